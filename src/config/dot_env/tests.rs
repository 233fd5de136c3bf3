//! Tests of `config::dot_env`.

use super::*;

#[test]
fn a_fault_is_named_by_line_and_variable_and_never_by_its_text() {
    for (text, wanted) in [
        ("LLM_PROVIDER=anthropic\nLLM_API_KEY=sk-SECRET 123\n", "line 2: the value of LLM_API_KEY cannot be read"),
        ("A=1\n\n# of mine\n  export LEVEL3_TOKEN=SECRET def\nB=2\n", "line 4: the value of LEVEL3_TOKEN"),
        ("LLM_API_KEY=\"SECRET\nANTHROPIC_API_KEY=SECRET-too\nX=1\n", "line 1: the value of LLM_API_KEY"),
        ("A='one\ntwo'\nB=\"SECRET\n", "line 3: the value of B"),
        ("A=1\r\nB=SECRET 2\r\n", "line 2: the value of B"),
        ("A=1\nsk-SECRET\n", "line 2 cannot be read"),
        ("sk-SECRET/+=1 2\n", "line 1 cannot be read"),
        ("\u{feff}A=SECRET 2", "line 1: the value of A"),
    ] {
        let said = read(text).unwrap_err().to_string();
        assert!(said.contains(wanted) && said.contains(".env") && !said.contains("SECRET"), "{said}");
    }
    // A line that is longer than a reader takes at once.
    let long = format!("A={}\nB=SECRET 2\n", "x".repeat(20_000));
    assert!(read(&long).unwrap_err().to_string().contains("line 2: the value of B"));
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_name() {
    let settings = read("\u{feff}A=1\nB='two words'\nexport C=\"3\"").unwrap();
    assert_eq!([settings["A"].as_str(), &settings["B"], &settings["C"]], ["1", "two words", "3"]);
}
