//! Files of leads: each bad row and column is named, and nothing of such a file is imported.

use crate::domain::campaign::lead::{MOST_ROWS, read_csv};

#[test]
fn campaign_leads_are_imported_whole_or_not_at_all() {
    let text = "\u{feff}full_name,profile_url,title\r\n\"Lovelace, \"\"Ada\"\"\",https://x.example/ada,CTO\r\nGrace,https://x.example/grace,\"a\nb\"\r\n";
    let read = read_csv(text).unwrap();
    assert_eq!((read[0].full_name.as_str(), read[1].attributes["title"].as_str()), ("Lovelace, \"Ada\"", "a\nb"));
    let loud = read_csv("full_name,profile_url\nEve,HTTPS://E.com/Eve\n").unwrap();
    assert_eq!(loud[0].profile_url, "https://E.com/Eve");
    let bad = "full_name,profile_url\n,https://x.example/a\nB,ftp://x\nC,https://x.example/c,more\nD,https://x.example/d\nD,https://x.example/d\n";
    let told = read_csv(bad).unwrap_err();
    assert_eq!(told.len(), 4, "{told:?}");
    for (place, fault) in [(0, "line 2: full_name is empty"), (1, "line 3: profile_url"), (2, "line 4: has 3"), (3, "line 6")] {
        assert!(told[place].starts_with(fault), "{}", told[place]);
    }
    for (text, fault) in
        [("", "line 1"), ("a,b\n", "line 1: the header needs"), ("full_name,profile_url\n\"A", "line 2: a quotation")]
    {
        assert!(read_csv(text).unwrap_err()[0].starts_with(fault));
    }
}

#[test]
fn campaign_lead_files_have_lines_that_end_with_lf_cr_lf_or_cr() {
    let lines =
        ["full_name,profile_url,title", "Ada,https://x.example/ada,\"CTO\"", "", "Bob,https://x.example/bob,\"a", "b\"", ""];
    for end in ["\n", "\r\n", "\r"] {
        let read = read_csv(&lines.join(end)).unwrap();
        let told: Vec<_> = read.iter().map(|lead| (lead.full_name.as_str(), lead.attributes["title"].as_str())).collect();
        assert_eq!(told, [("Ada", "CTO"), ("Bob", format!("a{end}b").as_str())], "{end:?}");
        let wrong = read_csv(&[&lines[..5], &["Cy"]].concat().join(end)).unwrap_err();
        assert_eq!(wrong, ["line 6: has 1 fields, the header has 3"], "{end:?}");
    }
}

#[test]
fn campaign_leads_have_columns_with_a_name_each() {
    for (header, faults) in [
        ("full_name,profile_url,title,title", &["line 1: column 4 of the header is title, as one before it"][..]),
        ("full_name,profile_url, title,title ,title", &["line 1: column 4 of", "line 1: column 5 of"]),
        ("full_name,profile_url,full_name", &["line 1: column 3 of the header is full_name"]),
        ("full_name,profile_url,", &["line 1: column 3 of the header has no name"]),
        ("full_name, ,profile_url,\"\"", &["line 1: column 2 of the header has no name", "line 1: column 4 of"]),
        ("\n\nfull_name,profile_url,", &["line 3: column 3"]),
    ] {
        let told = read_csv(&format!("{header}\nAda,https://x.example/ada,CTO,CEO\n")).unwrap_err();
        assert_eq!(told.len(), faults.len(), "{header}: {told:?}");
        for (told, fault) in told.iter().zip(faults) {
            assert!(told.starts_with(fault), "{header}: {told}");
        }
    }
    let read = read_csv("full_name,profile_url,title,Title\nAda,https://x.example/ada,CTO,CEO\n").unwrap();
    assert_eq!((read[0].attributes["title"].as_str(), read[0].attributes["Title"].as_str()), ("CTO", "CEO"));
}

#[test]
fn campaign_lead_files_have_10_000_rows_at_most() {
    let file = |rows: usize| {
        let rows = (0..rows).map(|n| format!("Lead {n},https://x.example/{n}\n"));
        std::iter::once("full_name,profile_url\n".to_owned()).chain(rows).collect::<String>()
    };
    assert_eq!(read_csv(&file(MOST_ROWS)).unwrap().len(), 10_000);
    let told = read_csv(&file(MOST_ROWS + 1)).unwrap_err();
    assert_eq!(told, ["line 10002: a file has at most 10000 rows; import the others by another file"]);
}
