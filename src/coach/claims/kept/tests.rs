//! Tests of `coach::claims::kept`.

use super::*;

/// Orders, and answers to them that claim to remember.
const CLAIMED: &[(&str, &str)] = &[
    ("Remember that the office is in Lisbon.", "I remember that the office is in Lisbon."),
    ("Remember that the office is in Lisbon.", "Okay, I will remember the office in Lisbon."),
    ("please remember: the office is in Lisbon", "Got it, noted."),
    ("Don't forget that I like tea.", "I won't forget."),
    ("Keep in mind that I like tea", "Sure! I'll keep that in mind."),
    ("Take a note: the key is under the mat.", "I have noted that the key is under the mat."),
    ("Save it in the global context: the office is in Lisbon.", "It is noted."),
    ("Remember the milk", "I've made a note."),
    ("Merk dir, dass das Büro in Lissabon ist.", "Ich merke mir, dass das Büro in Lissabon ist."),
    ("Bitte denk daran, dass ich Tee mag.", "Gut, ich werde daran denken."),
    ("Notiere: das Büro ist in Lissabon.", "Ich habe mir das notiert."),
    ("Vergiss nicht, dass ich Tee mag.", "Ich werde es nicht vergessen."),
    ("Recuerda que la oficina está en Lisboa.", "Recuerdo que la oficina está en Lisboa."),
    ("Anota que me gusta el té.", "Vale, lo recordaré."),
    ("No olvides que me gusta el té.", "No lo olvidaré."),
    ("Souviens-toi que le bureau est à Lisbonne.", "Je me souviens que le bureau est à Lisbonne."),
    ("Note que j'aime le thé.", "C'est noté."),
    ("N'oublie pas que j'aime le thé.", "Je n'oublierai pas."),
    ("Ricorda che l'ufficio è a Lisbona.", "Ricordo che l'ufficio è a Lisbona."),
    ("Per favore, ricordati che mi piace il tè.", "Certo, lo ricorderò."),
    ("Lembra que o escritório é em Lisboa.", "Lembro que o escritório é em Lisboa."),
    ("Anote que eu gosto de chá.", "Vou me lembrar disso."),
    ("Não te esqueças de que gosto de chá.", "Não me esquecerei."),
];

/// Ordinary answers: to a question, to another order, or without such a claim.
const NOT_CLAIMED: &[(&str, &str)] = &[
    ("Where is the office?", "I remember that the office is in Lisbon."),
    ("Do you remember where the office is?", "I remember: it is in Lisbon."),
    ("Remember where the office is?", "I remember that it is in Lisbon."),
    ("I remember Lisbon well.", "I remember it, too, from what you said."),
    ("Remember that the office is in Lisbon.", "As I remember, the office was in Porto before."),
    ("Remember that the office is in Lisbon.", "The global context says so already: the office is in Lisbon."),
    ("Remember that the office is in Lisbon.", "I already remember that."),
    ("Remember that the office is in Lisbon.", "I don't remember an office."),
    ("Remember that the office is in Lisbon.", "I cannot remember that; the context is full."),
    ("Remember that the office is in Lisbon.", "Shall I remember that?"),
    ("Remember that the office is in Lisbon.", "> I remember it.\n\nYou wrote that before."),
    ("Write a poem on memory.", "I remember the summer,\nI remember the sea."),
    ("Note the difference between them and tell me.", "The second one is longer."),
    ("What did you note?\n> Remember that I like tea.", "I have noted that you like tea."),
    ("Wo ist das Büro?", "Ich erinnere mich, dass es in Lissabon ist."),
    ("Merk dir, dass das Büro in Lissabon ist.", "Ich erinnere mich nicht an ein Büro."),
    ("Merk dir das.", "Was soll ich mir merken?"),
    ("¿Dónde está la oficina?", "Recuerdo que está en Lisboa."),
    ("Recuerda que me gusta el té.", "No recuerdo nada de eso."),
    ("Où est le bureau ?", "Je me souviens qu'il est à Lisbonne."),
    ("Souviens-toi que j'aime le thé.", "Je ne me souviens pas de cela."),
    ("Dov'è l'ufficio?", "Ricordo che è a Lisbona."),
    ("Ricorda che mi piace il tè.", "Non ricordo nulla."),
    ("Onde é o escritório?", "Lembro que é em Lisboa."),
    ("Lembra que gosto de chá.", "Não me lembro de nada."),
];

#[test]
fn a_few_words_and_a_comma_may_stand_before_it() {
    let noted = begins(KEPT);
    for said in ["noted", "d'accord, c'est noté", "twenty letters or so, noted, too"] {
        assert!(noted.is_match(said), "{said}");
    }
    for said in ["ok,noted", "more than twenty letters, noted", "a, b, noted", ", noted"] {
        assert!(!noted.is_match(said), "{said}");
    }
}

#[test]
fn no_pattern_is_large() {
    for text in [ORDERS, KEPT] {
        // With twenty times any letter it would have a million bytes in one direction.
        let made = regex::RegexBuilder::new(begins(text).as_str()).size_limit(512 << 10).build();
        assert!(made.is_ok(), "{text}: {made:?}");
    }
}

#[test]
fn to_say_that_it_remembers_is_a_claim_in_answer_to_an_order_to_remember_and_in_no_other() {
    let missed: Vec<_> = CLAIMED.iter().filter(|(asked, answer)| !claims_to_remember(answer, asked)).collect();
    let alarms: Vec<_> = NOT_CLAIMED.iter().filter(|(asked, answer)| claims_to_remember(answer, asked)).collect();
    assert!(missed.is_empty() && alarms.is_empty(), "{missed:#?} {alarms:#?}");
}
