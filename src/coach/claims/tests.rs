//! Sentences that are a claim, and sentences that only sound like one.

use super::*;

const CHANGED: &[&str] = &[
    // English
    "I have created the table.",
    "I've created `books` with three rows.",
    "I created a task for you.",
    "I have now successfully saved your note.",
    "I've added milk to your shopping list.",
    "I made a reminder for tomorrow.",
    "I have marked the task as complete.",
    "The task has been created.",
    "The table `books` was successfully created.",
    "Your reminder has been set for 9:00.",
    "It has been deleted.",
    "Everything has been saved.",
    "Task created.",
    "Table `x` created successfully!",
    "Reminder set for Monday.",
    "The capability is now live.",
    "I’ve deleted all rows.",
    "If you need more, just ask, I have scheduled the reminder.",
    "Great question! Successfully inserted 3 rows.",
    "I have set up the capability:\n```js\nlet a;\n```",
    "We have updated the database.",
    "I have executed it and the rows were inserted successfully into the table.",
    "Then I fixed it.",
    "I have updated the global context.",
    // German
    "Ich habe den globalen Kontext geändert.",
    "Ich habe die Aufgabe angelegt.",
    "Ich habe dir für morgen eine Erinnerung eingerichtet.",
    "Die Tabelle habe ich erstellt.",
    "Habe ich gespeichert, jetzt habe ich die Nachricht gelöscht.",
    "Die Aufgabe ist jetzt angelegt.",
    "Die Tabelle wurde erfolgreich angelegt.",
    "Ok, gespeichert.",
    "Die Aufgabe ist erledigt.",
    "Aufgabe „Miete“ angelegt.",
    "Ich habe die Zeile geändert.",
    "Klar, ich hab den Eintrag gelöscht.",
    "Ich habe dir die Liste geschickt.",
    // Spanish
    "He creado la tarea.",
    "Te he enviado la lista.",
    "Te he guardado la nota.",
    "Creé la tabla.",
    "La tarea se ha creado correctamente.",
    "La tabla ha sido creada.",
    "Tarea creada.",
    "He marcado la tarea como hecha.",
    // French
    "J'ai créé la tâche.",
    "J’ai bien enregistré votre note.",
    "Je vous ai envoyé le message.",
    "La table a été créée.",
    "Tâche créée.",
    "Nous avons supprimé la ligne.",
    "Je l'ai créé.",
    // Italian
    "Ho creato la tabella.",
    "Ti ho inviato il messaggio.",
    "La tabella è stata creata.",
    "Ho aggiornato la riga.",
    // Portuguese
    "Criei a tarefa.",
    "A tabela foi criada com sucesso.",
    "Tarefa criada.",
    "Atualizei a lista.",
];

const SENT: &[&str] = &[
    "I've just sent the message to Bob.",
    "Sure! I sent it.",
    "Email sent.",
    "The e-mail has been sent to Anna.",
    "I have saved the note, and I have sent the mail.",
    "I have saved the note. Then I emailed Bob.",
    "I have forwarded it to the office.",
    "Habe ich gespeichert, jetzt habe ich die Nachricht verschickt.",
    "Ich habe Anna die Rechnung geschickt.",
    "Ya he enviado el mensaje.",
    "J'ai envoyé le message à Paul.",
    "Ho inviato la mail a Paolo.",
    "Já enviei a mensagem.",
];

const WORKED: &[&str] = &[
    "Done.",
    "Done!",
    "All done!",
    "OK, done.",
    "✅ Done",
    "Got it. ✓",
    "Entendido ✔️",
    "It's done.",
    "**Done!** Anything else?",
    "Erledigt.",
    "Alles erledigt!",
    "Listo.",
    "¡Listo!",
    "Hecho.",
    "Ya está hecho.",
    "C'est fait.",
    "Voilà, c'est fait !",
    "Fatto.",
    "Ecco fatto!",
    "Pronto.",
    "Feito!",
    "I checked: there are no orders.",
    "I've looked it up, it is 7.",
    "I have tested the code and it works.",
    "I ran the query.",
    "Ich habe nachgesehen: es sind drei.",
    "Ich habe das geprüft.",
    "He comprobado los datos.",
    "J'ai vérifié les données.",
    "Ho controllato i dati.",
    "Verifiquei os dados.",
];

const NEITHER: &[&str] = &[
    "Your tasks:\n- Pay the rent ✓\n- Call mom",
    "✓ stands for what is completed.",
    // Plans and possibilities.
    "I can create a task for you.",
    "I would have created it.",
    "Shall I create the table?",
    "Have I created the right one?",
    "Once I have created the table, you can use it.",
    "If I had deleted it, it would be gone.",
    "After I have sent the message, I will tell you.",
    "I'm creating the table.",
    "Would you like me to mark it as done?",
    "Do you want it done by Monday?",
    "To be done: nothing.",
    "When it has been created, I will use it.",
    "Should I say when it is done?",
    // Denials.
    "I have not created anything.",
    "I haven't sent it.",
    "Nothing has been saved.",
    "I couldn't create the table.",
    "No task has been created.",
    "I don't think I have sent it.",
    "I never created that.",
    "The task was not created.",
    "I can't say that I have created it.",
    "The table has not been created yet.",
    // Other times, other people.
    "Yesterday I created the table.",
    "I created that table last week.",
    "You have created a table.",
    "You've sent the message already.",
    "The task was created by you on Monday.",
    "The table has been created by the user.",
    "As I said earlier, I have created it.",
    "The book was written in 1965.",
    "He created the first compiler.",
    "Postgres has been developed since 1986.",
    "Bob wrote to you.",
    "The invoice is created by the shop.",
    "A table is created with CREATE TABLE.",
    // Quotations and code.
    "You asked me to say \"I have created the table\".",
    "The log says `task created`.",
    "```\nDone.\n```",
    "> I have sent it.\n\nThis is what he wrote.",
    "The button says “Done”.",
    "```sql\n-- I have created the table\nSELECT 1;",
    // Text that the answer itself is made of.
    "I have written a short poem for you:\n\nRoses are red.",
    "I've made it shorter.",
    "I fixed the typo in your sentence.",
    "Here is the text; I changed the tone a little.",
    "I made a mistake, sorry.",
    "I made sure to keep it short.",
    "I have corrected the spelling.",
    // Talk.
    "Hello! How can I help you today?",
    "I have three ideas.",
    "I have a question.",
    "Well done!",
    "Done is better than perfect.",
    "It is easily done with a capability.",
    "The capital of France is Paris.",
    "I'm done with the explanation of joins.",
    "I have seen many tables.",
    "I found a few words that rhyme.",
    "I have understood.",
    "You are all set to begin?",
    "A done task stays in the list.",
    "The steps are: create the table, insert rows, done.",
    "To create a table, write CREATE TABLE.",
    "The statuses are pending and done.",
    // German
    "Ich habe die Aufgabe nicht angelegt.",
    "Ich habe noch keine Tabelle erstellt.",
    "Soll ich die Tabelle anlegen?",
    "Gestern habe ich die Tabelle angelegt.",
    "Wenn ich die Tabelle angelegt habe, sage ich Bescheid.",
    "Du hast die Aufgabe angelegt.",
    "Ich habe verstanden.",
    "Ich habe eine Frage.",
    "Das Buch wurde 1965 geschrieben.",
    "Es ist nichts gespeichert.",
    "Hast du die Aufgabe angelegt?",
    "Sobald ich sie gespeichert habe, geht es weiter.",
    "Ich habe dir ein Gedicht geschrieben:\n\nRosen sind rot.",
    "Ich kann die Aufgabe anlegen.",
    // Spanish, French, Italian, Portuguese
    "No he creado la tarea.",
    "¿He creado la tabla correcta?",
    "Puedo crear la tabla.",
    "Ayer creé la tabla.",
    "He entendido.",
    "Je n'ai pas créé la tâche.",
    "Hier j'ai créé la table.",
    "Si j'ai créé la table, dites-le.",
    "J'ai compris.",
    "Non ho creato la tabella.",
    "Ieri ho creato la tabella.",
    "Ho capito.",
    "Não criei a tarefa.",
    "Ontem criei a tabela.",
    "Entendi.",
    "Quer que eu crie a tabela?",
];

#[test]
fn what_is_said_to_be_changed_is_a_claim() {
    let missed: Vec<_> = CHANGED.iter().filter(|text| claim(text) != Some(Claim::Changed)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn what_is_said_to_be_sent_to_somebody_else_is_the_strongest_claim() {
    let missed: Vec<_> = SENT.iter().filter(|text| claim(text) != Some(Claim::Sent)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    for text in ["I sent you the list.", "I have sent it all to you.", "I have stored the mail that Bob sent."] {
        assert_eq!(claim(text), Some(Claim::Changed), "{text}");
    }
}

#[test]
fn that_something_was_looked_at_or_is_done_somehow_is_a_weaker_claim() {
    let missed: Vec<_> = WORKED.iter().filter(|text| !matches!(claim(text), Some(Claim::Worked | Claim::Finished))).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn what_a_call_is_said_to_have_given_is_the_weakest_claim() {
    for text in [
        "The result is the same as the previous call.",
        "The result is {\"status\": 200, \"body\": {\"text\": \"the kettle is on\"}}",
        "The result of the call is 1.",
        "Great, the output of `gcd` is 21.",
        "The function returned 21.",
        "It returned the word.",
        "Das Ergebnis lautet 21.",
        "Die Funktion hat 21 zurückgegeben.",
        "El resultado de la llamada es 21.",
        "Le résultat est 21.",
        "L'appel a renvoyé 21.",
        "Il risultato della chiamata è 21.",
        "O resultado é 21.",
    ] {
        assert_eq!(claim(text), Some(Claim::Gave), "{text}");
    }
    for text in [
        "The result is an error.",
        "The call returned nothing.",
        "The result is not known.",
        "Das Ergebnis ist ein Fehler.",
        "Le résultat est une erreur.",
        "If the result is 21, all is well.",
        "What the result is, I cannot tell.",
        "Is the result 21?",
    ] {
        assert_eq!(claim(text), None, "{text}");
    }
}

#[test]
fn denials_wishes_quotes_reports_and_talk_are_no_claims() {
    let false_alarms: Vec<_> = NEITHER.iter().filter_map(|text| Some((claim(text)?, text))).collect();
    assert!(false_alarms.is_empty(), "{false_alarms:#?}");
}

/// Last words after which nothing comes.
const ANNOUNCED: &[&str] = &[
    "I will create the table.",
    "I'll send it now.",
    "Let me create the table.",
    "I am going to save it.",
    "Ich werde die Aufgabe anlegen.",
    "Vado a creare la tabella.",
    "I will create a new script named double that doubles the number n.",
    "I will call update_global_context and write there that the office is in Lisbon. Then say done.",
    "I'll create the table now.",
    "Let me check.",
    "Sure, let me look that up for you.",
    "I'm going to save it in the database.",
    "I will now take a screenshot.",
    "Okay, I will add milk to your list.",
    "I'll run the script and send you the picture.",
    "I'll do that.",
    "Got it, I will remember that.",
    "It failed. I will write the script again.",
    "Let's proceed with the next step.",
    "Ich werde die Tabelle jetzt anlegen.",
    "Ich lege die Aufgabe an.",
    "Gut, ich prüfe das.",
    "Ich werde dir die Liste schicken.",
    "Voy a crear la tarea.",
    "Guardaré la nota en la lista.",
    "Je vais créer la tâche.",
    "Je vérifierai cela.",
    "Sto per creare la tabella.",
    "Aggiungerò la farina alla lista.",
    "Vou criar a tarefa.",
    "Adicionarei a farinha à lista.",
];

/// Words about later that promise nothing, leave it to the reader, or have the answer below them.
const NOT_ANNOUNCED: &[&str] = &[
    "I will create the table once you tell me its columns.",
    "If you confirm, I will delete the rows.",
    "Which columns does it have? I will then create the table.",
    "I'll need a grant for that host.",
    "Let me know the name of the table.",
    "I will not try another way.",
    "I won't delete the table.",
    "I'll be here.",
    "I will write a poem for you:\n\nRoses are red.",
    "Let me explain. A table has rows. Each row has columns. A column has a type. That is all.",
    "I'll create the function step by step. First comes its name. Then come its parameters. The body is last.",
    "You will need to create the table.",
    "The script will run every morning.",
    "We will see.",
    "It will be deleted after a week.",
    "Ich werde die Tabelle anlegen, sobald du die Spalten nennst.",
    "Ich werde das nicht löschen.",
    "Ich freue mich darauf.",
    "Voy a crear la tarea cuando me des el nombre.",
    "Je vais créer la tâche si vous confirmez.",
    "Je peux créer la table.",
    "Creerò la tabella quando mi dici le colonne.",
    "Vou criar a tarefa assim que confirmar.",
];

#[test]
fn what_is_announced_with_the_last_words_is_a_claim_as_well() {
    let missed: Vec<_> = ANNOUNCED.iter().filter(|text| claim(text) != Some(Claim::Announced)).collect();
    let alarms: Vec<_> = NOT_ANNOUNCED.iter().filter_map(|text| Some((claim(text)?, text))).collect();
    assert!(missed.is_empty() && alarms.is_empty(), "{missed:#?} {alarms:#?}");
    assert_eq!(claim("I will create the table. Done."), Some(Claim::Finished), "what is said to be done weighs more");
}

#[test]
fn a_question_about_earlier_turns_is_known_and_an_order_is_none() {
    for asked in [
        "Did you create the table?",
        "What have you done so far?",
        "Is that done already?",
        "Hast du die Aufgabe angelegt?",
        "¿Has creado la tarea?",
        "As-tu envoyé le message ?",
        "Hai creato la tabella?",
        "Você criou a tarefa?",
    ] {
        assert!(asks_about_the_past(asked), "{asked}");
    }
    for ordered in ["Create a table.", "Please send it.", "Can you make a task?", "Kannst du das speichern?", "Bitte anlegen!"] {
        assert!(!asks_about_the_past(ordered), "{ordered}");
    }
}

#[test]
fn a_long_text_and_one_of_nothing_but_marks_are_looked_at_in_no_time() {
    assert_eq!(claim(&"I have not ".repeat(100_000)), None);
    assert_eq!(claim(&"`\"„«“".repeat(10_000)), None);
    assert_eq!(claim(""), None);
}
