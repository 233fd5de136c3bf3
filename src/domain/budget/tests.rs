//! Tests of `domain::budget`.

use super::*;

fn read(given: Value) -> Result<Budgets, String> {
    serde_json::from_value(given).map_err(|error| error.to_string())
}

#[test]
fn what_is_written_reads_back() {
    let budgets = Budgets { day: Budget { money_micros: Some(7), ..Budget::default() }, ..Budgets::default() };
    assert_eq!(read(json!(budgets)), Ok(budgets));
    let tasks = TaskBudget { turns_per_hour: None, percent_of_day: None };
    let unlimited = Budgets { turn: Budget::default(), conversation: Budget::default(), day: Budget::default(), tasks };
    assert_eq!(read(json!(unlimited)), Ok(unlimited));
}

#[test]
fn what_is_not_mentioned_keeps_its_default_and_null_is_no_limit() {
    let defaults = Budgets::default();
    assert_eq!(read(json!({})), Ok(defaults));
    let budgets = read(json!({"turn": {"steps": 3}, "day": {"output_tokens": null}})).unwrap();
    assert_eq!(budgets.turn, Budget { steps: Some(3), ..defaults.turn });
    assert_eq!(budgets.day, Budget { output_tokens: None, ..defaults.day });
}

#[test]
fn tasks_may_use_a_part_of_each_limit_of_the_day() {
    let day = |percent| {
        let budgets = read(json!({"day": {"input_tokens": 101, "output_tokens": null}, "tasks": {"percent_of_day": percent}}));
        let Budget { input_tokens, output_tokens, .. } = budgets.unwrap().day_of_tasks();
        (input_tokens, output_tokens)
    };
    assert_eq!(day(json!(50)), (Some(50), None));
    assert_eq!((day(json!(100)), day(json!(null))), ((Some(101), None), (Some(101), None)));
    let most = Budgets { day: Budget { steps: Some(u64::MAX), ..Budget::default() }, ..Budgets::default() };
    assert!(most.day_of_tasks().steps.is_some_and(|steps| steps > u64::MAX / 3));
}

#[test]
fn a_wrong_budget_is_refused_with_its_place() {
    for (given, told) in [
        (json!([]), "budgets are an object"),
        (json!({"week": {}}), "`week` is none of: turn, conversation, day, tasks"),
        (json!({"tasks": {"percent_of_day": 101}}), "`tasks`: percent_of_day is 100 at most"),
        (json!({"tasks": {"steps": 3}}), "`tasks`: there is no field `steps`; the fields are"),
        (json!({"day": 5}), "`day` must be an object of limits"),
        (json!({"turn": {"stepps": 3}}), "`turn`: there is no field `stepps`; the fields are"),
        (json!({"turn": {"steps": -3}}), "`turn`: expected a whole number that is not below zero, not -3"),
        (json!({"day": {"wall_seconds": 3}}), "`day`: wall_seconds is a limit of a turn only"),
    ] {
        let error = read(given).unwrap_err();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn a_limit_that_is_none_is_told_without_a_type_of_the_program() {
    let told = |given: Value| read(json!({ "turn": given })).unwrap_err();
    assert_eq!(told(json!({"tool_calls": -1})), "`turn`: expected a whole number that is not below zero, not -1");
    assert_eq!(told(json!({"tool_calls": 1.5})), "`turn`: expected a whole number that is not below zero, not 1.5");
}
