//! The words of six languages that claims are made of. All in small letters; `VERB` and `THING`
//! stand for the lists below them. `[^ ]*` is the rest of a word, in less memory than `\w*`.

/// The words with which a language says that something was done. Each is a part of a regular
/// expression.
pub(super) struct Language {
    /// The actor and the verb; the words that may stand between them are `mid`.
    pub active: &'static str,
    /// That it was done, without a word of the actor.
    pub passive: &'static str,
    /// The words that follow if somebody else did it.
    pub by: &'static str,
    /// Verbs that hardly mean anything but an effect.
    pub strong: &'static str,
    /// Those of them that say that something has left this machine.
    pub sent: &'static str,
    /// The reader of the answer. A message to the reader is the answer itself.
    pub reader: &'static str,
    /// Verbs that may be about the text of the answer itself: they count with a thing.
    pub weak: &'static str,
    /// A whole sentence that says it.
    pub alone: &'static str,
    /// A whole sentence that says no more than that it is finished.
    pub finished: &'static str,
    /// Verbs of looking.
    pub looked: &'static str,
    /// How a sentence begins that says what a call gave.
    pub gave: &'static str,
    /// An announcement of the actor's: the verb in `VERB`, at once or soon.
    pub will: &'static str,
    /// Verbs that announce an effect, or a look at something.
    pub announced: &'static str,
    /// Those that may be about the text of the answer itself: they count with a thing.
    pub announced_thing: &'static str,
    /// Words that leave an announcement to the reader, or to something else that has to come first.
    pub condition: &'static str,
    /// Things that only tools make or change.
    pub thing: &'static str,
    /// Words before it that make it a plan, a condition, a wish, or the doing of somebody else.
    pub hedge: &'static str,
    /// Words that deny it.
    pub not: &'static str,
    /// Words for another time than this turn.
    pub elsewhen: &'static str,
    /// Words of a question about earlier turns.
    pub past: &'static str,
}

/// The languages; one that says it in two ways comes twice.
pub(super) const LANGUAGES: [Language; 8] =
    [ENGLISH, GERMAN, SPANISH, SPANISH_SIMPLE, FRENCH, ITALIAN, PORTUGUESE, PORTUGUESE_SIMPLE];

/// Matches nothing.
const NEVER: &str = r"[^\s\S]";

const ENGLISH: Language = Language {
    active: r"(?:i|we)(?:'ve| have)?(?: (?:just|now|already|also|successfully|then|first|both|gone ahead and|went ahead and))* VERB",
    passive: r"(?:has|have)(?: (?:now|just|already|also))* been(?: (?:now|successfully|also))* VERB|(?:was|were) successfully VERB|(?:was|were) VERB successfully|(?:is|are) now (?:live|installed|saved|stored|scheduled|set up|done|deleted|removed|created|updated|complete|completed|marked \S+)",
    by: r"by (?:you|the user|him|her|them|someone|somebody|another|a|an|the)",
    strong: r"created|saved|stored|sent|deleted|dropped|removed|erased|scheduled|installed|inserted|restarted|reloaded|booked|posted|emailed|notified|cancelled|canceled|renamed|registered|recorded|set up|ticked|crossed|archived|deployed|forwarded|messaged|(?:added|updated|changed|fixed|corrected|completed|marked|executed|put|moved|finished) (?:it|them|that|this)",
    sent: r"sent|emailed|forwarded|messaged",
    reader: r"you",
    weak: r"added|made|built|written|wrote|updated|changed|fixed|corrected|replaced|put|moved|cleared|completed|finished|marked|set|noted|configured|implemented|defined|extended|modified|edited|executed|run|ran|logged|entered",
    alone: r"successfully VERB.*|(?:(?:the|your|a|an|new) )*THING(?: x| \S+){0,3} (?:VERB)(?: successfully| for .{1,30}| to .{1,30}| as .{1,30})?|(?:saved|sent|created|deleted|updated|scheduled|installed|added|stored|removed)(?: successfully)?|(?:it|everything|that|this|they|all of them)(?: has| have|'s)(?: now| just| already)* been(?: successfully)? VERB.*",
    finished: r"(?:(?:ok|okay|alright|all right|great|sure|perfect|yes|good|certainly|of course)[, ]*)?(?:(?:it's|it is|that's|that is|this is|all|everything is|everything's|the task is) )?(?:now )?(?:done|all done|all set|taken care of|completed|complete|finished)(?: now| for you)?",
    looked: r"checked|looked up|looked it up|searched|queried|verified|tested|fetched|retrieved|called|ran|executed|counted the rows",
    gave: r"(?:(?:so|now|ok|okay|great|sure)[, ]*)?(?:the |its |your )?(?:results?|outputs?|return value|returned value|response)(?: (?:of|from) .{1,60}?)? (?:is|are|was|were)|(?:the |this )?(?:call|function|tool|capability|query|request|it)(?: \S+)?(?: has)?(?: successfully)? (?:returned|gave|printed)",
    will: r"(?:(?:i|we)(?:'ll| will| shall|(?:'m| am|'re| are) going to)|let me|let's)(?: (?:now|first|then|also|just|next|go ahead and|proceed to|have to|need to))* VERB",
    announced: r"create|delete|remove|erase|drop|schedule|install|insert|save|store|record|send|call|execute|invoke|fetch|retrieve|check|look (?:it|that|this|them) up|look up|search|query|proceed|remember (?:it|that|this)|keep (?:it|that|this) in mind|do (?:it|that|this|so)|take (?:care of (?:it|that|this)|(?:a|the|another) (?:screenshot|picture))",
    announced_thing: r"write|build|make|add|update|change|set|put|mark|use|get|list|read|open|note|fix|start|run|rename|move|complete|generate",
    condition: r"if|once|when|after|unless|until|before|as soon as|would|could|please|tell me|let me know|know|whether",
    thing: r"tables?|tasks?|to-?dos?|reminders?|capabilit(?:y|ies)|tools?|rows?|records?|entry|entries|database|messages?|e-?mails?|mails?|appointments?|secrets?|columns?|index|schema|view|notes?|shopping list|your list|the list|status|due date|calendar|invoices?|orders?|customers?|scripts?|global context",
    hedge: r"if|once|when|after|unless|until|whether|before|would|will|should|could|can|might|may|let|suppose|imagine|assuming|pretend|as if|as though|how|what|which|that you|you asked|example|for instance|think|believe|wish|want|need|ought|had|question|ways?",
    not: r"not|never|no|none|nothing|nobody|cannot|can't|couldn't|haven't|hasn't|didn't|don't|unable|without|failed|neither|nor|yet to",
    elsewhen: r"yesterday|earlier|previously|ago|last (?:time|week|month|year|night|turn)|in (?:our|the|my|an) (?:last|previous|earlier)|this morning|before that|back then|already exist(?:s|ed)?",
    past: r"(?:did|have|has|had|were|was|are) (?:you|it|that|this|the|my|everything|all)|what (?:did|have) you|already|so far",
};

const GERMAN: Language = Language {
    active: r"(?:ich habe|ich hab|habe ich|hab ich|wir haben|haben wir)(?P<mid>(?: [^,;]{0,120}?)?) VERB",
    passive: r"(?:wurden? (?:\S+ ){0,5}?erfolgreich|(?:ist|sind)(?P<mid>(?: [^,;]{1,40}?)?)) VERB",
    by: r"von (?:dir|ihnen|ihm|ihr|einem|einer|der|dem)",
    strong: r"angelegt|erstellt|erzeugt|hinzugefügt|eingefügt|eingetragen|gespeichert|gesendet|geschickt|verschickt|abgeschickt|versendet|gelöscht|entfernt|installiert|abgehakt|eingerichtet|gebucht|umbenannt|storniert|eingeplant|hinterlegt|vermerkt|abgelegt",
    sent: r"gesendet|geschickt|verschickt|abgeschickt|versendet",
    reader: r"dir|euch|ihnen",
    weak: r"geändert|aktualisiert|geschrieben|gebaut|erledigt|ausgeführt|gestartet|gesetzt|notiert|korrigiert|angepasst|ersetzt|ergänzt|markiert|verschoben|abgeschlossen|gemacht|geleert|behoben",
    alone: r"(?:(?:ok|okay|gut|gern|gerne|klar|ja|alles klar|super|prima|perfekt)[, ]*)?(?:(?:es|das|alles) ist )?(?:(?:schon|jetzt|nun|alles) )?(?:gespeichert|angelegt|erstellt|gelöscht|gesendet|abgehakt|eingetragen)|(?:(?:die|der|das|deine|dein|neue) )*THING(?: x| \S+){0,3} (?:VERB)|(?:wurde )?erfolgreich VERB|(?:es|sie|alles|das) (?:wurde|ist)(?: (?:jetzt|nun|erfolgreich|alles))* VERB",
    finished: r"(?:(?:ok|okay|gut|gern|gerne|klar|ja|alles klar|super|prima|perfekt)[, ]*)?(?:(?:es|das|alles|die aufgabe) ist )?(?:(?:schon|jetzt|nun|alles) )?(?:erledigt|fertig|gemacht)",
    looked: r"nachgesehen|nachgeschaut|geprüft|überprüft|nachgeprüft|gesucht|abgefragt|getestet|abgerufen|aufgerufen|ausprobiert|ausgeführt",
    gave: r"(?:(?:also|gut|ok|okay)[, ]*)?(?:das ergebnis|die ausgabe|die antwort|der rückgabewert)(?: (?:von|des|der|für) .{1,60}?)? (?:ist|lautet|war)|(?:der aufruf|die funktion|die fähigkeit|die abfrage|das werkzeug|es)(?: \S+)? (?:gab|ergab|lieferte|hat .{1,60} (?:geliefert|ergeben|zurückgegeben))",
    will: r"(?:ich werde|werde ich)(?P<mid>(?: [^,;]{0,120}?)?) VERB|ich VERB",
    announced: r"anlegen|erstellen|hinzufügen|einfügen|eintragen|speichern|senden|schicken|verschicken|löschen|entfernen|installieren|einrichten|buchen|aufrufen|ausführen|abrufen|prüfen|überprüfen|nachsehen|nachschauen|suchen|abfragen|erstelle|speichere|lösche|entferne|sende|schicke|installiere|prüfe|überprüfe|suche|(?:lege|trage|richte|füge|rufe|führe|frage|sehe|schaue)(?: [^,;]{1,80})? (?:an|ein|ab|auf|aus|nach|hinzu)|erledige (?:das|es)|kümmere mich(?: [^,;]{1,30})?",
    announced_thing: r"ändern|aktualisieren|schreiben|bauen|setzen|notieren|ergänzen|markieren|verschieben|machen|nutzen|verwenden|lesen|auflisten|ändere|aktualisiere|schreibe|baue|setze|notiere|ergänze|markiere|verschiebe|mache",
    condition: r"wenn|falls|sobald|nachdem|bevor|bitte|würde|könnte|kann|soll|sollte|sag|sage|möchtest|willst|bestätig[^ ]*",
    thing: r"tabellen?|aufgaben?|erinnerung(?:en)?|fähigkeit(?:en)?|capability|werkzeuge?|zeilen?|einträge?|eintrag|datensatz|datensätze|datenbank|nachrichten?|e-?mails?|mails?|termine?|geheimnis|spalten?|notiz(?:en)?|einkaufsliste|liste|status|kalender|rechnung(?:en)?|skripte?|globale[nr]? kontext",
    hedge: r"wenn|falls|sobald|nachdem|bevor|ob|würde|werde|sollte|könnte|kann|möchte|angenommen|als ob|wie|beispiel|damit du|hätte|wäre|dass du",
    not: r"nicht|kein|keine|keinen|keiner|nie|niemals|nichts|niemand|noch nicht|ohne|weder",
    elsewhen: r"gestern|vorhin|früher|zuvor|letzte[nrms]?|neulich|damals|vor (?:\w+ )?(?:minuten|stunden|tagen|wochen)|heute morgen|im jahr|seit",
    past: r"hast du|haben sie|habt ihr|hattest|wurde|wurden|ist (?:es|das|die|der)|bist du|was hast",
};

const SPANISH: Language = Language {
    active: r"(?:he|hemos)(?: (?:ya|también|recién))? VERB",
    passive: r"se (?:ha|han)(?: (?:ya|también))? VERB|(?:ha|han) sido VERB|(?:está|están|queda|quedan|quedó) (?:ya )?VERB",
    by: r"por (?:ti|usted|el|la|un|una)",
    strong: r"cread[oa]s?|añadid[oa]s?|agregad[oa]s?|insertad[oa]s?|guardad[oa]s?|enviad[oa]s?|mandad[oa]s?|borrad[oa]s?|eliminad[oa]s?|programad[oa]s?|instalad[oa]s?|registrad[oa]s?|anotad[oa]s?|almacenad[oa]s?|agendad[oa]s?|renombrad[oa]s?|reservad[oa]s?",
    sent: r"enviad[oa]s?|mandad[oa]s?",
    reader: r"te|os|le|les",
    weak: r"actualizad[oa]s?|completad[oa]s?|marcad[oa]s?|escrito|construido|cambiad[oa]s?|corregid[oa]s?|ejecutad[oa]s?|configurad[oa]s?|modificad[oa]s?|hech[oa]s?|puest[oa]s?|terminad[oa]s?",
    alone: r"(?:(?:ok|vale|bien|claro|perfecto|sí)[, ]*)?(?:guardado|enviado|creado)|(?:ya )?se (?:ha|han) VERB.*|(?:(?:la|el|tu|una|un|nueva|nuevo) )*THING(?: x| \S+){0,3} (?:VERB)(?: con éxito| correctamente)?",
    finished: r"(?:(?:ok|vale|bien|claro|perfecto|sí)[, ]*)?(?:ya está|ya está (?:hecho|listo)|(?:todo |está )?(?:listo|hecho)|hecho y listo|completado)",
    looked: r"comprobado|verificado|buscado|consultado|probado|revisado|ejecutado",
    gave: r"(?:el resultado|la salida|la respuesta)(?: (?:de|del) .{1,60}?)? (?:es|fue|son)|(?:la llamada|la función|la herramienta|la consulta)(?: \S+)? (?:devolvió|dio|ha devuelto)",
    will: r"(?:voy a|vamos a|déjame|permíteme) VERB",
    announced: r"(?:crear|borrar|eliminar|programar|instalar|insertar|guardar|registrar|enviar|mandar|ejecutar|consultar|buscar|comprobar|verificar|revisar|hacer)(?:l[oae]s?|te|se|tel[oa]s?|sel[oa]s?)?|llamar(?:l[oa])?",
    announced_thing: r"(?:añadir|agregar|actualizar|cambiar|escribir|anotar|marcar|poner|usar|leer|listar|construir)(?:l[oa]s?)?",
    condition: r"si|cuando|una vez|después de|antes de|por favor|dime|podría|puedo|hasta",
    thing: r"tablas?|tareas?|recordatorios?|capacidad(?:es)?|herramientas?|filas?|registros?|entradas?|base de datos|mensajes?|correos?|e-?mails?|citas?|secretos?|columnas?|notas?|lista|estado|calendario|facturas?|scripts?|contexto global",
    hedge: r"si|cuando|después de|una vez|antes de|podría|puedo|puede|voy a|debería|quiero|como si|ejemplo|que tú|hubiera|qué|cómo",
    not: r"no|nunca|jamás|nada|sin|tampoco|ningún|ninguna",
    elsewhen: r"ayer|antes|anteriormente|hace (?:\w+ )?(?:minutos|horas|días|semanas)|pasad[oa]|en nuestra última|esta mañana",
    past: r"has|hiciste|habéis|ha|ya|fue|creaste|enviaste",
};

const SPANISH_SIMPLE: Language = Language {
    active: r"VERB",
    will: r"VERB",
    announced: r"crearé|borraré|eliminaré|programaré|instalaré|insertaré|guardaré|registraré|enviaré|mandaré|llamaré|ejecutaré|consultaré|buscaré|comprobaré|verificaré|revisaré|lo haré|me encargo",
    announced_thing: r"añadiré|agregaré|actualizaré|cambiaré|escribiré|anotaré|marcaré|pondré|usaré",
    strong: r"creé|añadí|agregué|guardé|envié|borré|eliminé|programé|instalé|inserté|anoté|registré|mandé|almacené",
    sent: r"envié|mandé",
    reader: r"te|os|le|les",
    weak: r"actualicé|completé|marqué|escribí|construí|cambié|corregí|ejecuté|configuré|modifiqué|terminé",
    passive: NEVER,
    alone: NEVER,
    finished: NEVER,
    looked: r"comprobé|verifiqué|busqué|consulté|probé|revisé|ejecuté",
    gave: NEVER,
    ..SPANISH
};

const FRENCH: Language = Language {
    active: r"(?:j'ai|nous avons|(?:je|on|nous) (?:(?:l'|te l'|vous l'|les |t'|vous |te |le |la )*)?(?:ai|a|avons))(?: (?:bien|déjà|aussi|maintenant|tout juste))* VERB",
    passive: r"(?:a|ont)(?: (?:bien|déjà|aussi))? été(?: (?:bien|correctement))? VERB|(?:est|sont) (?:maintenant|désormais|bien) VERB",
    by: r"par (?:toi|vous|le|la|un|une|l')",
    strong: r"créée?s?|ajoutée?s?|insérée?s?|enregistrée?s?|sauvegardée?s?|envoyée?s?|supprimée?s?|effacée?s?|programmée?s?|planifiée?s?|installée?s?|renommée?s?|réservée?s?|annulée?s?|cochée?s?",
    sent: r"envoyée?s?",
    reader: r"t'|te|vous",
    weak: r"mise?s? à jour|modifiée?s?|changée?s?|terminée?s?|marquée?s?|écrite?s?|construite?s?|corrigée?s?|exécutée?s?|configurée?s?|notée?s?|faite?s?|mise?s?",
    alone: r"(?:(?:ok|bien|d'accord|parfait|oui|voilà)[, ]*)?(?:c'est )?(?:enregistré|envoyé|créé)|(?:il|elle|ils|elles|cela|ça|tout) (?:a|ont)(?: bien)? été VERB.*|(?:(?:la|le|ta|ton|votre|une|un|nouvelle) )*THING(?: x| \S+){0,3} (?:VERB)(?: avec succès)?",
    finished: r"(?:(?:ok|bien|d'accord|parfait|oui|voilà)[, ]*)?(?:c'est (?:fait|bon|terminé|prêt)|voilà qui est fait|(?:tout est |c'est )?(?:fait|terminé))",
    looked: r"vérifiée?s?|cherchée?s?|recherchée?s?|consultée?s?|testée?s?|exécutée?s?|interrogée?s?",
    gave: r"(?:le résultat|la sortie|la réponse)(?: (?:de|du|de l') ?.{1,60}?)? (?:est|était)|(?:l'appel|la fonction|l'outil|la requête)(?: \S+)? a (?:renvoyé|retourné|donné)",
    will: r"(?:je vais|nous allons|laisse-moi|laissez-moi|je)(?: (?:le|la|les|te|vous|maintenant|d'abord|ensuite))* VERB",
    announced: r"créer|supprimer|effacer|programmer|planifier|installer|insérer|enregistrer|sauvegarder|envoyer|appeler|exécuter|chercher|rechercher|vérifier|consulter|(?:cré|supprim|effac|programm|planifi|install|enregistr|sauvegard|exécut|cherch|vérifi|consult)erai|appellerai|enverrai|m'en occupe|(?:vais )?m'en occuper|le fais|le ferai",
    announced_thing: r"ajouter|mettre à jour|modifier|changer|écrire|noter|marquer|utiliser|faire|lire|lister|construire|ajouterai|modifierai|changerai|noterai|marquerai|utiliserai",
    condition: r"si|quand|lorsque|dès que|une fois|après|avant|pourrais|peux|dites-moi|dis-moi|confirm[^ ]*",
    thing: r"tables?|tâches?|rappels?|capacités?|outils?|lignes?|entrées?|enregistrements?|base de données|messages?|courriels?|e-?mails?|mails?|rendez-vous|secrets?|colonnes?|notes?|liste|statut|calendrier|factures?|scripts?|contexte global",
    hedge: r"si|quand|lorsque|après|une fois|avant de|pourrais|peux|vais|devrais|veux|comme si|exemple|que tu|que vous|aurais|comment",
    not: r"pas|jamais|rien|aucune?|sans|ni|n'ai|n'a|n'ont|n'avons",
    elsewhen: r"hier|auparavant|précédemment|plus tôt|il y a|derni(?:er|ère)s?|ce matin",
    past: r"as-tu|avez-vous|tu as|vous avez|a-t-il|a-t-elle|est-ce que|qu'as-tu|qu'avez-vous",
};

const ITALIAN: Language = Language {
    active: r"(?:(?:(?:ti|vi|lo|la|li|le|l') ?)*(?:ho|abbiamo)(?: (?:già|anche|appena|ora))* VERB)",
    passive: r"(?:è|sono) stat[oaie](?: (?:già|anche|appena))? VERB|(?:è|sono) (?:ora|adesso) VERB",
    by: r"da (?:te|lei|voi|un|una)|dal|dalla",
    strong: r"creat[oaie]|aggiunt[oaie]|inserit[oaie]|salvat[oaie]|inviat[oaie]|mandat[oaie]|spedit[oaie]|cancellat[oaie]|eliminat[oaie]|rimoss[oaie]|programmat[oaie]|installat[oaie]|registrat[oaie]|annotat[oaie]|rinominat[oaie]|prenotat[oaie]",
    sent: r"inviat[oaie]|mandat[oaie]|spedit[oaie]",
    reader: r"ti|vi|le",
    weak: r"aggiornat[oaie]|completat[oaie]|segnat[oaie]|scritt[oaie]|costruit[oaie]|modificat[oaie]|cambiat[oaie]|corrett[oaie]|eseguit[oaie]|configurat[oaie]|fatt[oaie]|impostat[oaie]",
    alone: r"(?:(?:ok|bene|certo|perfetto|sì)[, ]*)?(?:salvato|inviato|creato)|(?:è|sono) stat[oaie] VERB.*|(?:(?:la|il|l'|tua|tuo|una|un|nuova|nuovo) )*THING(?: x| \S+){0,3} (?:VERB)(?: con successo| correttamente)?",
    finished: r"(?:(?:ok|bene|certo|perfetto|sì)[, ]*)?(?:ecco fatto|(?:tutto |è )?fatto|(?:è )?tutto (?:fatto|a posto)|completato)",
    looked: r"controllat[oaie]|verificat[oaie]|cercat[oaie]|consultat[oaie]|testat[oaie]|eseguit[oaie]",
    gave: r"(?:il risultato|l'output|la risposta)(?: (?:di|del|della|dell') ?.{1,60}?)? (?:è|era|sono)|(?:la chiamata|la funzione|lo strumento|la query)(?: \S+)? ha (?:restituito|dato)",
    will: r"VERB",
    announced: r"(?:sto per|vado a|provvedo a) (?:(?:crea|elimina|cancella|programma|installa|inseri|salva|registra|invia|manda|esegui|chiama|cerca|verifica|controlla|consulta)r(?:e|l[oaie]|t[ie]))|(?:cre|elimin|cancell|programm|install|salv|registr|invi|mand|cerch|verific|controll|consult|chiam|chied)erò|inserirò|eseguirò|provvederò|lo farò|me ne occupo",
    announced_thing: r"(?:sto per|vado a) (?:aggiunge|aggiorna|cambia|scrive|annota|segna|usa|legge|elenca|costrui)r(?:e|l[oaie])|aggiungerò|aggiornerò|cambierò|scriverò|annoterò|segnerò|userò",
    condition: r"se|quando|una volta|dopo|prima di|per favore|dimmi|mi dica|potrei|posso|appena|conferm[^ ]*",
    thing: r"tabell[ae]|attività|compit[oi]|promemoria|capacità|strument[oi]|rig(?:a|he)|vo(?:ce|ci)|record|database|messagg(?:io|i)|e-?mail|mail|appuntament[oi]|segret[oi]|colonn[ae]|not[ae]|lista|stato|calendario|fattur[ae]|script|contesto globale",
    hedge: r"se|quando|dopo|una volta|prima di|potrei|posso|vorrei|dovrei|come se|esempio|che tu|avrei|come",
    not: r"non|mai|niente|nulla|nessuna?|senza|né",
    elsewhen: r"ieri|prima|precedentemente|in precedenza|scors[oa]|fa|stamattina",
    past: r"hai|avete|ha|è stat[oa]|già|cosa hai",
};

const PORTUGUESE: Language = Language {
    active: NEVER,
    passive: r"(?:foi|foram|está|estão)(?: (?:já|agora))? VERB",
    by: r"por (?:ti|você|um|uma)|pelo|pela",
    strong: r"criad[oa]s?|adicionad[oa]s?|inserid[oa]s?|guardad[oa]s?|salv[oa]s?|enviad[oa]s?|apagad[oa]s?|eliminad[oa]s?|excluíd[oa]s?|removid[oa]s?|agendad[oa]s?|programad[oa]s?|instalad[oa]s?|registrad[oa]s?|registad[oa]s?|anotad[oa]s?",
    sent: r"enviad[oa]s?",
    reader: r"te|lhe|você",
    weak: r"atualizad[oa]s?|concluíd[oa]s?|completad[oa]s?|marcad[oa]s?|alterad[oa]s?|corrigid[oa]s?|executad[oa]s?|configurad[oa]s?|modificad[oa]s?|feit[oa]s?",
    alone: r"(?:(?:ok|certo|claro|perfeito|sim)[, ]*)?(?:salvo|enviado|criado)|(?:já )?(?:foi|foram) VERB(?: com sucesso)?|(?:(?:a|o|sua|seu|tua|teu|uma|um|nova|novo) )*THING(?: x| \S+){0,3} (?:VERB)(?: com sucesso)?",
    finished: r"(?:(?:ok|certo|claro|perfeito|sim)[, ]*)?(?:pronto|(?:está |tudo )?(?:feito|pronto)|concluído)",
    looked: NEVER,
    gave: r"(?:o resultado|a saída|a resposta)(?: (?:de|do|da) .{1,60}?)? (?:é|foi|são)|(?:a chamada|a função|a ferramenta|a consulta)(?: \S+)? (?:retornou|devolveu|deu)",
    will: r"(?:vou|vamos|deixe-me|deixa-me) VERB",
    announced: r"(?:criar|apagar|eliminar|excluir|remover|agendar|programar|instalar|inserir|guardar|salvar|gravar|registr?ar|enviar|mandar|executar|chamar|consultar|buscar|procurar|verificar|fazer)(?:-[lt]?[oae]s?)?|cuidar disso|tratar disso",
    announced_thing: r"adicionar|atualizar|mudar|alterar|escrever|anotar|marcar|colocar|usar|ler|listar|construir",
    condition: r"se|quando|assim que|depois de|antes de|por favor|diga|poderia|posso|até|confirm[^ ]*",
    thing: r"tabelas?|tarefas?|lembretes?|capacidades?|ferramentas?|linhas?|registr?os?|entradas?|banco de dados|base de dados|mensage(?:m|ns)|e-?mails?|compromissos?|segredos?|colunas?|notas?|lista|estado|calendário|faturas?|scripts?|contexto global",
    hedge: r"se|quando|depois|assim que|antes de|poderia|posso|vou|deveria|quero|como se|exemplo|que você|teria|como",
    not: r"não|nunca|nada|nenhuma?|sem|nem",
    elsewhen: r"ontem|antes|anteriormente|há|passad[oa]|hoje de manhã",
    past: r"você|fizeste|fez|já|foi|criou|enviou",
};

const PORTUGUESE_SIMPLE: Language = Language {
    active: r"VERB",
    will: r"VERB",
    announced: r"criarei|apagarei|eliminarei|removerei|agendarei|instalarei|guardarei|salvarei|registr?arei|enviarei|executarei|chamarei|buscarei|procurarei|verificarei|farei isso",
    announced_thing: r"adicionarei|atualizarei|mudarei|alterarei|escreverei|anotarei|marcarei|usarei",
    strong: r"criei|adicionei|inseri|guardei|salvei|gravei|enviei|mandei|apaguei|eliminei|excluí|removi|agendei|programei|instalei|registrei|registei|anotei|cancelei",
    sent: r"enviei|mandei",
    reader: r"te|lhe|você",
    weak: r"atualizei|concluí|completei|marquei|escrevi|construí|alterei|mudei|corrigi|executei|configurei|modifiquei",
    passive: NEVER,
    alone: NEVER,
    finished: NEVER,
    looked: r"verifiquei|procurei|consultei|testei|busquei|pesquisei|conferi|executei",
    gave: NEVER,
    ..PORTUGUESE
};
