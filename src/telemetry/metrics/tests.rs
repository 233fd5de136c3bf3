//! Tests of `telemetry::metrics`.

use super::*;

#[derive(Debug)]
enum Kind {
    RateLimited,
}

#[test]
fn what_was_counted_is_rendered_with_its_help_and_unit() {
    let metrics = Metrics::default();
    metrics.model_error(Kind::RateLimited);
    metrics.turn_ended("completed");
    metrics.turn_ended("completed");
    metrics.tool("execute_sql", Duration::from_millis(3));
    let text = metrics.render(&Seen { sockets: 2, pools: vec![("app", 1, 3)], ..Seen::default() });
    for line in [
        "# HELP level3_turns_ended Turns that ended since the server started, by state.",
        "# UNIT level3_tool_call_duration_seconds seconds",
        "level3_turns_ended_total{state=\"completed\"} 2",
        "level3_model_errors_total{kind=\"rate_limited\"} 1",
        "level3_tool_call_duration_seconds_bucket{le=\"0.0025\",tool=\"execute_sql\"} 0",
        "level3_tool_call_duration_seconds_bucket{le=\"0.005\",tool=\"execute_sql\"} 1",
        "level3_open_sockets 2",
        "level3_pool_connections{pool=\"app\",state=\"used\"} 1",
        "level3_database_up 0",
        "# EOF",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is missing in:\n{text}");
    }
}

#[test]
fn what_the_database_does_not_say_any_more_is_not_shown_as_it_was() {
    let metrics = Metrics::default();
    let stored = StoredFigures { turns: vec![("queued", 3)], queue_age_seconds: 12.5, ..StoredFigures::default() };
    let text = metrics.render(&Seen { stored: Some(stored), ..Seen::default() });
    assert!(text.contains("level3_turns{state=\"queued\"} 3") && text.contains("level3_database_up 1"), "{text}");
    let text = metrics.render(&Seen::default());
    assert!(!text.contains("level3_turns{") && text.contains("level3_database_up 0"), "{text}");
}

#[test]
fn two_servers_in_one_process_count_apart() {
    let (one, other) = (Metrics::default(), Metrics::default());
    one.capability_call(true);
    assert!(one.render(&Seen::default()).contains("level3_capability_calls_total{outcome=\"done\"} 1"));
    assert!(!other.render(&Seen::default()).contains("level3_capability_calls_total{"));
}
