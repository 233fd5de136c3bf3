//! The house rules, checked on the sources themselves: which floor may import which, how long a
//! file may be, where SQL, permits and exits may stand. The floors are read from `ARCHITECTURE.md`,
//! so the document cannot drift from the code.
//!
//! Every rule fails when it saw nothing to check, and has a test beside it that shows it can fail.

mod tidy {
    pub mod arrows;
    pub mod attacks;
    pub mod circles;
    pub mod columns;
    pub mod files;
    pub mod floors;
    pub mod licences;
    pub mod machines;
    pub mod names;
    pub mod prose;
    pub mod replies;
    pub mod routes;
    pub mod rules;
    pub mod sizes;
    pub mod tokens;
}

use tidy::files::{Finding, Source, project};
use tidy::floors::Floors;
use tidy::{arrows, attacks, circles, columns, licences, machines, names, prose, replies, routes, rules, sizes};

fn floors() -> Floors {
    Floors::from_document(include_str!("../ARCHITECTURE.md")).unwrap()
}

/// Runs one rule over the files it is for; fails with every finding, or when there was no such
/// file.
fn check(files: &[Source], applies: impl Fn(&Source) -> bool, rule: impl Fn(&Source) -> Vec<Finding>) {
    let files: Vec<_> = files.iter().filter(|file| applies(file)).collect();
    assert!(!files.is_empty(), "this rule has seen no file");
    let findings: Vec<_> = files.into_iter().flat_map(rule).map(|finding| format!("\n  {finding}")).collect();
    assert!(findings.is_empty(), "{}", findings.concat());
}

fn program(file: &Source) -> bool {
    file.path.starts_with("src/") && file.is_rust()
}

#[test]
fn a_module_imports_only_from_earlier_floors() {
    let floors = floors();
    let project = project();
    let arrows: usize = project.iter().filter(|file| program(file)).map(arrows::count).sum();
    assert!(arrows > 0, "no import was seen, so nothing was checked");
    check(&project, program, |file| arrows::check(&floors, file));
}

#[test]
fn every_module_stands_on_a_floor() {
    let floors = floors();
    check(&project(), program, |file| arrows::listed(&floors, file));
}

#[test]
fn no_circle_of_files() {
    let project = project();
    let house = circles::House::read(&project);
    assert!(house.count() > 500, "only {} arrows were seen, so hardly anything was checked", house.count());
    let findings: Vec<_> = house.circles().iter().map(|finding| format!("\n  {finding}")).collect();
    assert!(findings.is_empty(), "{}", findings.concat());
}

#[test]
fn what_the_store_keeps_does_not_know_its_queue() {
    let project = project();
    let house = circles::House::read(&project);
    let (things, queue) = ("src/store/things/", "src/store/queue/");
    assert!(!house.between(queue, things).is_empty(), "no import was seen, so nothing was checked");
    assert_eq!(house.between(things, queue), []);
}

#[test]
fn what_helps_weak_models_reads_no_store_and_calls_no_tool() {
    let project = project();
    let house = circles::House::read(&project);
    for room in ["src/coach/", "src/model/rescue/"] {
        assert!(!house.between(room, "src/domain/").is_empty(), "no import was seen, so nothing was checked");
        for other in ["src/store/", "src/tools/", "src/executor/"] {
            assert_eq!(house.between(room, other), []);
        }
    }
}

#[test]
fn what_helps_weak_models_stays_small() {
    let project = project();
    let house = circles::House::read(&project);
    let of_it = |file: &&Source| file.path.starts_with("src/coach/") || file.path.starts_with("src/model/rescue/");
    let lines: usize = project.iter().filter(of_it).filter(|file| house.holds(file)).map(sizes::lines).sum();
    assert!(lines > 0, "this rule has seen no file");
    assert!(lines <= 1_200, "{lines} lines of coach and rescue; a new rule has to earn its lines, docs/evals.md says how");
}

#[test]
fn a_state_machine_has_no_arm_for_the_rest() {
    let project = project();
    let seen: usize = project.iter().filter(|file| program(file)).map(machines::count).sum();
    assert!(seen >= 9, "only {seen} machines were seen");
    check(&project, program, machines::arms);
}

#[test]
fn no_function_is_longer_than_80_lines() {
    let project = project();
    let house = circles::House::read(&project);
    check(&project, |file| house.holds(file), sizes::functions);
}

#[test]
fn a_turn_is_read_like_a_story() {
    let project = project();
    let agent = project.iter().find(|file| file.path == "src/agent/mod.rs").expect("the file of the loop");
    let (step, lines) = (sizes::body(agent, "step").expect("`Agent::step`"), agent.text.lines().count());
    assert!(step <= 40, "`Agent::step` has {step} lines of code; 40 are the end: give a part of it a name");
    assert!(lines <= 250, "{} has {lines} lines; 250 are the end: split it", agent.path);
}

#[test]
fn half_of_the_files_are_short_and_nine_of_ten_are_no_burden() {
    let project = project();
    let house = circles::House::read(&project);
    let lines: Vec<_> = project.iter().filter(|file| house.holds(file)).map(sizes::lines).collect();
    let (median, most) = (sizes::quantile(&lines, 50), sizes::quantile(&lines, 90));
    assert!(median <= 120 && most <= 260, "half have at most {median} lines (120), nine of ten at most {most} (260): split some");
}

#[test]
fn the_root_of_a_crate_holds_nothing_but_modules() {
    check(&project(), |file| arrows::is_root(&file.path), rules::only_modules);
}

#[test]
fn each_crate_holds_its_floors() {
    let floors = floors();
    for (root, first, last) in arrows::ROOTS {
        let own = |file: &Source| file.path == root;
        check(&project(), own, |file| rules::other_floors(file, |module| floors.floor(module), first..=last));
    }
}

#[test]
fn no_file_is_longer_than_500_lines() {
    check(&project(), Source::is_code, rules::length);
}

#[test]
fn no_file_of_the_page_is_longer_than_250_lines() {
    let is_text = |file: &Source| [".js", ".css", ".html"].iter().any(|ending| file.path.ends_with(ending));
    check(&project(), |file| file.path.starts_with("static/") && is_text(file), rules::page_length);
}

#[test]
fn every_rust_file_opens_with_what_it_is_for() {
    check(&project(), Source::is_rust, rules::opening);
}

#[test]
fn only_postgres_and_store_name_sqlx() {
    check(&project(), program, rules::sqlx);
}

#[test]
fn sql_stands_only_in_store() {
    check(&project(), program, rules::sql_text);
}

#[test]
fn a_permit_is_made_only_in_governor() {
    let project = project();
    let defined: usize = project.iter().filter(|file| program(file)).map(rules::permits_defined).sum();
    assert_eq!(defined, 1, "`struct Permit` must be defined exactly once, else this rule guards the wrong thing");
    check(&project, program, rules::permit);
}

#[test]
fn no_tool_is_known_by_a_text_of_its_name() {
    let project = project();
    let house = circles::House::read(&project);
    let names: Vec<_> = project.iter().flat_map(rules::tools_named).collect();
    // The twenty functions, the eight proposals, the six of the browser, and those of `names.rs`.
    assert!(names.len() >= 54, "only {} names of tools were read, so some are not looked for", names.len());
    check(&project, |file| house.holds(file), |file| rules::tool_names(file, &names));
}

#[test]
fn no_two_types_have_one_name() {
    let project = project();
    let house = circles::House::read(&project);
    let files: Vec<_> = project.iter().filter(|file| house.holds(file)).collect();
    let types = files.iter().flat_map(|file| names::visible_types(file)).count();
    assert!(types > 400, "only {types} types were seen, so hardly anything was checked");
    let findings: Vec<_> = names::shared(&files).iter().map(|finding| format!("\n  {finding}")).collect();
    assert!(findings.is_empty(), "{}", findings.concat());
}

#[test]
fn a_function_is_named_by_what_it_gives() {
    check(&project(), Source::is_rust, names::empty);
}

#[test]
fn only_main_ends_the_process() {
    check(&project(), program, rules::exit);
}

#[test]
fn tests_wait_for_as_long_as_a_slow_machine_needs() {
    check(&project(), |file| file.path.starts_with("tests/") && file.is_rust(), rules::impatience);
}

#[test]
fn nothing_is_put_off_in_a_comment() {
    check(&project(), |_| true, rules::put_off);
}

#[test]
fn prose_has_a_hundred_columns() {
    // Sources of capabilities and of the engine are left: their digests are known elsewhere.
    let is_of_the_page = |file: &Source| file.path.starts_with("static/") && file.path.ends_with(".js");
    check(&project(), |file| file.is_rust() || is_of_the_page(file), columns::comments);
    // A prompt is measured and changes only with an evaluation; `just bench` writes its own page.
    let stays = |file: &Source| file.path.starts_with("src/") || file.path == "docs/performance.md";
    check(&project(), |file| file.path.ends_with(".md") && !stays(file), columns::document);
}

#[test]
fn sentences_in_comments_begin_with_their_subject() {
    check(&project(), Source::is_rust, prose::openings);
    let has_comments = |file: &Source| file.path.ends_with(".js") || file.path.ends_with(".css");
    check(&project(), |file| file.path.starts_with("static/") && has_comments(file), prose::page);
}

#[test]
fn sentences_in_documents_begin_with_their_subject() {
    let is_document = |file: &Source| file.path.ends_with(".md") && (file.path.starts_with("docs/") || !file.path.contains('/'));
    // Decisions stay as they were written; the document of the style shows what not to write.
    let stays = |file: &Source| file.path.starts_with("docs/adr/") || file.path == "docs/style.md";
    check(&project(), |file| is_document(file) && !stays(file), prose::document);
}

#[test]
fn every_attack_in_the_document_has_a_test_that_exists() {
    let project = project();
    check(&project, |file| file.path == "docs/security.md", |document| attacks::check(document, &project));
}

#[test]
fn the_document_of_the_interface_has_its_routes_and_no_others() {
    let project = project();
    let routes = routes::mounted(&project).len();
    assert!(routes > 130, "only {routes} routes were read, so hardly anything was checked");
    check(&project, |file| file.path == "docs/api.md", |document| routes::check(&project, document));
}

#[test]
fn a_reply_of_the_interface_is_a_type_of_wire() {
    let project = project();
    let house = circles::House::read(&project);
    let answers = |file: &Source| replies::applies(file) && house.holds(file);
    let types = replies::types(&project);
    let seen: usize = project.iter().filter(|file| answers(file)).map(replies::count).sum();
    assert!(types.len() > 150 && seen > 100, "only {} types and {seen} replies were seen", types.len());
    check(&project, answers, |file| replies::check(file, &types));
}

#[test]
fn no_dependency_has_a_file_under_the_gpl() {
    let manifest = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let packages = licences::packages(&manifest).unwrap();
    let dependencies: Vec<_> = packages.iter().filter(|package| !package.ours).collect();
    assert!(dependencies.len() > 300, "only {} dependencies were seen, so hardly anything was checked", dependencies.len());
    let findings: Vec<_> =
        dependencies.iter().flat_map(|package| package.copyleft()).map(|finding| format!("\n  {finding}")).collect();
    assert!(findings.is_empty(), "{}", findings.concat());
}

#[test]
fn the_whatsapp_program_is_under_the_agpl_because_of_what_it_links() {
    let manifest = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("channels/whatsapp/Cargo.toml");
    let packages = match licences::packages(&manifest) {
        Ok(packages) => packages,
        Err(error) => {
            let told = "NOT RUN, the sources of channels/whatsapp are not on this machine (`cargo fetch` there gets them)";
            licences::not_read(&format!("{told}: {error}"), licences::is_ci());
            return;
        }
    };
    let findings = |name: &str| -> usize {
        packages.iter().filter(|package| package.name == name).map(|package| package.copyleft().len()).sum()
    };
    assert!(findings("wacore-libsignal") >= 31, "if this library is free of it now, channels/whatsapp may be MIT");
    assert_eq!(findings("level3-whatsapp"), 2, "the manifest and the LICENSE");
}
