//! Tests of `governor::budget`.

use super::*;

fn spent(change: fn(&mut Spent)) -> Spent {
    let mut spent = Spent::default();
    change(&mut spent);
    spent
}

fn limit(change: fn(&mut Budget)) -> Budget {
    let mut budget = Budget::default();
    change(&mut budget);
    budget
}

#[test]
fn every_limit_of_every_span_is_reached_at_its_number_and_not_before() {
    type Row = (What, fn(&mut Budget), fn(&mut Spent), fn(&mut Spent));
    let rows: [Row; 7] = [
        (What::Steps, |b| b.steps = Some(3), |s| s.steps = 2, |s| s.steps = 3),
        (What::WallSeconds, |b| b.wall_seconds = Some(3), |s| s.wall_seconds = 2, |s| s.wall_seconds = 3),
        (What::InputTokens, |b| b.input_tokens = Some(3), |s| s.input_tokens = 2, |s| s.input_tokens = 3),
        (What::OutputTokens, |b| b.output_tokens = Some(3), |s| s.output_tokens = 2, |s| s.output_tokens = 3),
        (What::Tokens, |b| b.tokens = Some(3), |s| s.input_tokens = 2, |s| (s.input_tokens, s.output_tokens) = (2, 1)),
        (What::Money, |b| b.money_micros = Some(3), |s| s.money_micros = 2, |s| s.money_micros = 3),
        (What::ToolCalls, |b| b.tool_calls = Some(3), |s| s.tool_calls = 2, |s| s.tool_calls = 3),
    ];
    let none = Budgets { turn: Budget::default(), conversation: Budget::default(), day: Budget::default(), ..Budgets::default() };
    for (what, set, below, at) in rows {
        for scope in [Scope::Turn, Scope::Conversation, Scope::Day, Scope::Tasks] {
            if scope == Scope::Tasks && what == What::WallSeconds {
                continue; // only a turn has this limit
            }
            let (mut budgets, mut used) = (none, Used::default());
            budgets.tasks.percent_of_day = Some(100);
            let mut of_tasks = Spent::default();
            let (budget, span) = match scope {
                Scope::Tasks => (&mut budgets.day, &mut of_tasks),
                Scope::Turn => (&mut budgets.turn, &mut used.turn),
                Scope::Conversation => (&mut budgets.conversation, &mut used.conversation),
                Scope::Day => (&mut budgets.day, &mut used.day),
            };
            *budget = limit(set);
            *span = spent(below);
            used.tasks = (scope == Scope::Tasks).then_some(of_tasks);
            let before = used;
            match scope {
                Scope::Turn => used.turn = spent(at),
                Scope::Conversation => used.conversation = spent(at),
                Scope::Day => used.day = spent(at),
                Scope::Tasks => used.tasks = Some(spent(at)),
            }
            assert_eq!(check(&budgets, &before), None, "{what:?} {scope:?}");
            assert_eq!(check(&budgets, &used), Some(Exceeded { scope, what, limit: 3, used: 3 }), "{what:?} {scope:?}");
            assert_eq!(check(&none, &used), None, "{what:?} {scope:?} without a limit");
        }
    }
}

#[test]
fn the_person_is_told_which_limit_it_was_and_how_to_raise_it() {
    let told = |scope, what, limit, used| Exceeded { scope, what, limit, used }.to_string();
    assert_eq!(
        told(Scope::Turn, What::ToolCalls, 60, 60),
        "this turn has made 60 tool calls; the limit is 60. To raise it, change the budget `turn.tool_calls` of this profile in the \
             settings (“One turn”, “Calls of tools”)"
    );
    assert_eq!(
        told(Scope::Day, What::Money, 1_500_000, 1_512_345),
        "today all conversations together have cost $1.51; the limit is $1.50. To raise it, change the budget `day.money_micros` of \
             this profile in the settings (“All conversations in a day”, “Dollars”), or wait until midnight UTC"
    );
    assert!(told(Scope::Turn, What::Money, 100, 1_500).starts_with("this turn has cost $0.0015; the limit is $0.0001."));
    assert!(told(Scope::Turn, What::Money, 500_000, 1_000_000).starts_with("this turn has cost $1.00; the limit is $0.50."));
    assert!(told(Scope::Turn, What::Steps, 1, 1).starts_with("this turn has made 1 model request; the limit is 1."));
    assert!(told(Scope::Conversation, What::InputTokens, 5, 9).starts_with("this conversation has had models read 9 tokens;"));
}

#[test]
fn the_operators_person_is_told_the_field_of_its_config_if_the_limit_stands_there() {
    let told = |scope, what| Exceeded { scope, what, limit: 5, used: 6 }.for_operator();
    assert_eq!(
        told(Scope::Turn, What::Tokens),
        "this turn has used 6 tokens, read and written; the limit is 5. To raise it, change `limits.max_tokens_per_session` in the \
             operator's config.json and start it again"
    );
    assert!(told(Scope::Turn, What::Steps).contains("`limits.max_iterations`"));
    assert!(told(Scope::Turn, What::WallSeconds).contains("`limits.max_runtime_minutes`"));
    for (scope, what) in [(Scope::Day, What::Tokens), (Scope::Turn, What::ToolCalls), (Scope::Turn, What::UnknownPrice)] {
        assert_eq!(told(scope, what), Exceeded { scope, what, limit: 5, used: 6 }.to_string());
    }
}

#[test]
fn a_turn_of_a_task_ends_at_its_part_of_the_day_and_a_persons_own_does_not() {
    let budgets = Budgets { day: limit(|b| b.input_tokens = Some(100)), ..Budgets::default() };
    let by_tasks = Used { day: spent(|s| s.input_tokens = 60), tasks: Some(spent(|s| s.input_tokens = 50)), ..Used::default() };
    let exceeded = check(&budgets, &by_tasks).unwrap();
    assert_eq!((exceeded.scope, exceeded.limit), (Scope::Tasks, 50));
    let told = exceeded.to_string();
    assert!(told.contains("the rest is left for you (`tasks.percent_of_day`)") && told.contains("midnight UTC"), "{told}");
    assert_eq!(check(&budgets, &Used { tasks: None, ..by_tasks }), None);
    let by_person = Used { day: spent(|s| s.input_tokens = 90), tasks: Some(spent(|s| s.input_tokens = 49)), ..Used::default() };
    assert_eq!(check(&budgets, &by_person), None, "what a person used is not counted against tasks");
}

#[test]
fn a_limit_of_money_stops_a_model_of_unknown_price_and_only_then() {
    let budgets = Budgets { day: limit(|b| b.money_micros = Some(1_000_000)), ..Budgets::default() };
    let used = Used { turn: spent(|s| s.unpriced = 1), ..Used::default() };
    let exceeded = check(&budgets, &used).unwrap();
    assert_eq!((exceeded.scope, exceeded.what), (Scope::Day, What::UnknownPrice));
    assert!(exceeded.to_string().contains("the price of the model is not known. Set the model's rate"), "{exceeded}");
    assert_eq!(check(&Budgets::default(), &used), None);
    let earlier = Used { day: spent(|s| s.unpriced = 9), ..Used::default() };
    assert_eq!(check(&budgets, &earlier), None, "what was asked before the rate was set stops nothing");
}

#[test]
fn the_third_identical_call_is_warned_about_and_the_fifth_ends_the_turn() {
    let call = |arguments: &str| ("execute_sql".to_owned(), arguments.to_owned());
    let judged = |previous: &[(String, String)]| repeated_call(previous, "execute_sql", r#"{"a": 1, "b": 2}"#);
    let mut previous = vec![("restart".to_owned(), r#"{"a":1,"b":2}"#.to_owned()), call(r#"{"a":2}"#)];
    assert_eq!(judged(&previous), RepeatedCall::None);
    for expected in
        [RepeatedCall::None, RepeatedCall::Warn(3), RepeatedCall::Warn(4), RepeatedCall::Stop(5), RepeatedCall::Stop(6)]
    {
        previous.push(call(r#"{"b":2,"a":1}"#)); // keys in another order are the same arguments
        assert_eq!(judged(&previous), expected);
    }
}

#[test]
fn arguments_that_are_no_json_repeat_too() {
    let previous = vec![("restart".to_owned(), "{oops".to_owned()); 2];
    assert_eq!(repeated_call(&previous, "restart", " {oops"), RepeatedCall::Warn(3));
}
