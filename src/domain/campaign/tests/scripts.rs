//! Tables of which scripts may run, and what a run proves.

use super::super::state::MadeCall;
use super::*;
use crate::domain::HttpGrant;

#[test]
fn campaign_scripts_are_refused_before_anybody_is_asked() {
    let there = state(
        vec![task(1, "pending", wants_note())],
        vec![
            artifact("js_script", "sum", "return 1"),
            artifact("python_script", "sum", "return 1"),
            artifact("js_script", "long", &"x".repeat(200 << 10)),
            artifact("file", "people", "a"),
            artifact("environment", "settings", "{}"),
        ],
    );
    let many: Vec<_> = (0..17).map(|n| format!("f{n}")).collect();
    for (arguments, fault) in [
        (json!({}), "arguments.script: expected the key of a js_script or python_script"),
        (json!({"script": "none"}), "there is no js_script or python_script none; propose one"),
        (json!({"script": "long"}), "a script that runs has 196608 at most"),
        (json!({"script": "sum", "network": true}), "arguments.network: run_script takes no such argument"),
        (json!({"script": "sum", "hosts": "x.example"}), "arguments.hosts: is no list of hosts"),
        (json!({"script": "sum", "hosts": ["*"]}), "arguments.hosts: `*` is no single host"),
        (
            json!({"script": "sum", "hosts": [""]}),
            "arguments.hosts: `` is no host, as api.example.com is one; expected a list like [\"api.example.com\"]",
        ),
        (json!({"script": "sum", "hosts": ["ftp://x.example"]}), "only https and http can be granted"),
        (json!({"script": "sum", "hosts": vec!["x.example"; 9]}), "arguments.hosts: has 9 hosts; at most 8"),
        (json!({"script": "sum", "input": "x".repeat(70_000)}), "arguments.input: has 70002 bytes"),
        (json!({"script": "sum", "files": "people"}), "arguments.files: expected a list of keys"),
        (json!({"script": "sum", "files": ["none"]}), "arguments.files[0]: there is no file none"),
        (json!({"script": "sum", "files": ["people", "people"]}), "arguments.files[1]: people is named twice"),
        (json!({"script": "sum", "files": ["environment/settings"]}), "a script reads no environment"),
        (json!({"script": "sum", "files": ["disk/etc"]}), "arguments.files[0]: `disk` is none of"),
        (json!({"script": "sum", "files": many}), "has 17 keys; at most 16"),
    ] {
        let run = read("execute_tool", json!({"task": 1, "tool": "run_script", "arguments": arguments}));
        let refused = validate(&there, &run, 1, now()).unwrap_err();
        assert!(refused.contains(fault), "{refused}");
    }
    let fits = json!({"script": "sum", "input": {"a": 1}, "files": ["people", "js_script/sum"]});
    assert_eq!(
        validate(&there, &read("execute_tool", json!({"task": 1, "tool": "run_script", "arguments": fits})), 1, now()),
        Ok(())
    );
    for script in ["js_script/sum", "python_script/sum"] {
        let arguments = json!({"script": script, "hosts": ["x.example"]});
        let plan = script::ScriptPlan::of(&there, arguments.as_object().unwrap()).unwrap();
        assert!(plan.hosts.contains(&HttpGrant::host("x.example")), "{script}");
    }
    assert!(snapshot(&there, now(), &tool_lines()).contains("run_script {\"script\": KEY"));
    assert!(!snapshot(&ready(), now(), &tool_lines()).contains("run_script"), "nothing is said of scripts where there is none");
}

#[test]
fn campaign_scripts_are_bound_to_the_versions_that_were_shown() {
    let of = |source: &str, file: &str| {
        let there = state(vec![], vec![artifact("js_script", "sum", source), artifact("file", "people", file)]);
        let arguments = json!({"script": "sum", "files": ["people"]});
        script::ScriptPlan::of(&there, arguments.as_object().unwrap()).unwrap()
    };
    let CampaignProposal::ExecuteTool(run) = read("execute_tool", json!({"task": 1, "tool": "run_script"})) else {
        unreachable!()
    };
    let (plan, approved) = (of("return 1", "a"), of("return 1", "a").bound(&run));
    assert!(!plan.was_changed(&approved));
    assert!(of("return 2", "a").was_changed(&approved) && of("return 1", "b").was_changed(&approved));
    assert_eq!(plan.contents, json!({"people": "a"}));
}

#[test]
fn campaign_scripts_that_ran_before_their_newest_version_prove_nothing() {
    let wanted = json!({"begun_at": now(), "requires": [{"kind": "script_succeeded", "artifact": "sum"}]});
    let ran_at = |ended: &str, outcome: &str, key: &str| {
        let arguments = json!({"task": 1, "tool": "run_script", "arguments": {"script": key}}).to_string();
        let call = json!({"tool_call_id": 5, "step_id": 4, "name": "execute_tool", "arguments": arguments, "state": outcome,
                          "refusal": null, "ended_at": ended});
        let mut kept = artifact("js_script", "sum", "return 1");
        kept["created_at"] = json!("2026-11-26T09:00:00Z");
        let rows = CampaignRows {
            campaign: campaign("active"),
            tasks: vec![task(1, "in_progress", wanted.clone())],
            artifacts: vec![kept],
            calls: vec![call],
            ..CampaignRows::default()
        };
        let there = CampaignState::of(rows).unwrap();
        verify(&there, &there.tasks[0], now()).map(|proven| proven[0].calls.clone())
    };
    assert_eq!(ran_at("2026-11-26T09:00:00Z", "done", "sum"), Ok(vec![5]));
    for (ended, outcome, key) in [
        ("2026-11-26T08:59:59Z", "done", "sum"),
        ("2026-11-26T09:00:00Z", "failed", "sum"),
        ("2026-11-26T09:00:00Z", "done", "other"),
    ] {
        assert!(ran_at(ended, outcome, key).is_err(), "{ended} {outcome} {key}");
    }
}

#[test]
fn campaign_call_is_read_once_however_many_conditions_look_at_it() {
    let call = |name: &str, arguments: &str| -> MadeCall {
        let written = json!({"tool_call_id": 5, "step_id": 4, "name": name, "arguments": arguments, "state": "done",
                             "refusal": null, "ended_at": now()});
        serde_json::from_value(written).unwrap()
    };
    let arguments = json!({"task": 1, "tool": "run_script", "arguments": {"script": "sum"}}).to_string();
    let made = call("execute_tool", &arguments);
    let run = made.run().unwrap();
    assert_eq!(run.tool, "run_script");
    assert!(std::ptr::eq(run, made.run().unwrap()), "the next look reads nothing");
    let other = call("execute_tool", &arguments);
    assert_eq!((json!(made), &made), (json!(other), &other), "a call stays what it was by a look");
    assert!(call("execute_tool", "{").run().is_none() && call("no_op", &arguments).run().is_none());
}
