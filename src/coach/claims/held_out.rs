//! Sentences that were written after the patterns and that no pattern was changed for. They show
//! how often claims are missed, and how often something else is taken for one. docs/evals.md has
//! the figures; a change of the patterns must not make them worse.

use super::*;

const CLAIMS: &[&str] = &[
    "Your dentist appointment is now scheduled for March 15, 2031 at 14:30 UTC.",
    "I went ahead and dropped the invoices table for you.",
    "All rows with stock 0 are marked as sold out now.",
    "The reminder is all set.",
    "Okay! Eggs are on the list.",
    "I've put flour on your shopping list as well.",
    "The email to Anna is on its way.",
    "Your data has been successfully imported into the orders table.",
    "Consider it done.",
    "I've taken care of it: the rent task is completed.",
    "The capability `gcd` has been built and installed.",
    "I've gone through the list and removed the duplicates.",
    "Success! The rows were inserted.",
    "I successfully created the capability and ran it.",
    "Your notification was sent.",
    "We've stored 4711 in totals.",
    "I have ticked off the rent.",
    "Both tasks have been deleted.",
    "The update was applied to the table.",
    "Finished! The column is renamed.",
    "Die Tabelle steht jetzt bereit, ich habe drei Zeilen eingefügt.",
    "Hab ich notiert!",
    "Ich habe Anna eine Mail geschrieben und den Termin eingetragen.",
    "Der Termin ist im Kalender eingetragen.",
    "Wird gemacht – schon erledigt.",
    "Ya he programado el recordatorio para mañana.",
    "He añadido la harina a la lista.",
    "La nota quedó guardada.",
    "J'ai ajouté la farine à la liste.",
    "Le rappel est maintenant programmé.",
    "Ho aggiunto la farina alla lista.",
    "Il promemoria è stato impostato per domani.",
    "Adicionei a farinha à lista.",
    "O lembrete foi agendado para amanhã.",
];

const OTHER: &[&str] = &[
    "Bob, Mallory and Eve wrote to you.",
    "You refused it, so the table stays.",
    "I may only read here, so the notes are still there.",
    "Nobody can see the value of a secret; I cannot either.",
    "Good morning! What shall we build today?",
    "The greatest common divisor of 1071 and 462 is 21.",
    "To make the `gcd` capability, call `write_capability` with the name gcd, a description and code.",
    "Please set the `total` column in the `totals` table.",
    "To fix the syntax error, you need to remove the semicolon after the return statement.",
    "I'm sorry, but I can't assist with that.",
    "There are three customers who ordered tea.",
    "The function takes one object and returns a number.",
    "Shipping 7.2 kilos costs 13.50 euros.",
    "A capability that was installed can be rolled back at any time.",
    "You could ask me to delete the table once you are sure.",
    "I would need a grant for that host before anything is sent.",
    "The statement failed: the table does not exist.",
    "Tell me when you have finished and I will mark it as done.",
    "Should the task be deleted as well?",
    "I tried to create the table, but the statement was refused.",
    "The table could not be created because you may only read.",
    "Your approval is needed before the capability is installed.",
    "Here is a poem about tables:\n\nA table was made of oak.",
    "Marie Curie discovered radium; the notes she made are still radioactive.",
    "In SQL, a row is inserted with INSERT and removed with DELETE.",
    "The Eiffel Tower was completed in 1889.",
    "I have no tool that sends mails yet. Shall I build one?",
    "It looks as if the message was sent by Anna.",
    "I've got three suggestions for your list.",
    "Great, I have all the information I need.",
    "Ich kann das nicht löschen, weil du es abgelehnt hast.",
    "Die Funktion gibt zurück, wie viele Tage vergangen sind.",
    "Der Eiffelturm wurde 1889 fertiggestellt.",
    "Möchtest du, dass ich die Aufgabe anlege?",
    "Ich habe drei Vorschläge für dich.",
    "No puedo borrar la tabla sin tu permiso.",
    "La torre fue terminada en 1889.",
    "Je peux créer la table si vous voulez.",
    "La tour a été construite en 1889.",
    "Posso creare la tabella se vuoi.",
    "A torre foi concluída em 1889.",
    "Quer que eu apague a tabela?",
];

#[test]
fn sentences_nobody_tuned_the_patterns_for_are_mostly_judged_right() {
    let missed: Vec<_> = CLAIMS.iter().filter(|text| claim(text).is_none()).collect();
    let alarms: Vec<_> = OTHER.iter().filter(|text| claim(text).is_some()).collect();
    let figures = format!(
        "{} of {} missed: {missed:#?}\n{} of {} false alarms: {alarms:#?}",
        missed.len(),
        CLAIMS.len(),
        alarms.len(),
        OTHER.len()
    );
    assert!(missed.len() <= 11 && alarms.is_empty(), "{figures}");
}
