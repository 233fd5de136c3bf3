//! That events read back as they were written.

use super::*;
use crate::domain::{TaskId, TaskStatus, Words};

#[test]
fn every_kind_of_event_reads_back_as_it_was_written() {
    let (turn, step, call) = (TurnId(1), StepId(2), ToolCallId(3));
    let request = CallRequest { id: "a".into(), name: "execute_sql".into(), arguments: "{}".into() };
    let task = Task {
        id: TaskId(4),
        title: "t".into(),
        details: String::new(),
        status: TaskStatus::Pending,
        due_at: Some(DateTime::UNIX_EPOCH),
        model: Some("ollama/m".into()),
        conversation: ConversationId(5),
        created_at: DateTime::UNIX_EPOCH,
        updated_at: DateTime::UNIX_EPOCH,
    };
    let events = [
        Event::TurnQueued {
            turn,
            message: MessageId(6),
            client_id: None,
            origin: Origin::Task,
            content: "c".into(),
            moved: Some(MessageId(7)),
            images: vec![Image { sha256: "ab".into(), media_type: super::super::ImageType::Png, size: 3 }],
        },
        Event::TurnSteered {
            turn,
            message: MessageId(8),
            client_id: Some("c".into()),
            state: TurnState::AwaitingApproval,
            content: "c".into(),
            images: Vec::new(),
        },
        Event::SteeringShown { turn, step: 2, messages: vec![MessageId(8)] },
        Event::TurnStarted { turn, fence: 7 },
        Event::StepAnswered {
            turn,
            step,
            number: 1,
            model: "m".into(),
            finish_reason: "stop".into(),
            usage: Some(Usage { input: 1, output: 2 }),
            content: "c".into(),
            last: true,
            cost_micros: Some(3),
            unproven: false,
        },
        Event::ToolCallProposed { turn, step, call, request, position: 1 },
        Event::ToolCallEnded {
            turn,
            call,
            name: "n".into(),
            outcome: Outcome::failed("no"),
            verdict: Some("ask".into()),
            approval: Some(ApprovalId(8)),
            kept: Some(2),
        },
        Event::CallUndone { turn, call, rows: 2 },
        Event::ProposalClassified { turn, call, classification: Classification::STRICTEST, answered: false },
        Event::ApprovalRequested {
            turn,
            call,
            approval: ApprovalId(8),
            proposal_sha256: "ab".into(),
            shown: Box::new(Shown {
                tool: "restart".into(),
                arguments: Value::Null,
                what: vec!["w".into()],
                why: "y".into(),
                can_always: false,
                words: Words::default(),
                capability: None,
                finding: None,
            }),
            expires_at: DateTime::UNIX_EPOCH,
        },
        Event::ApprovalDecided {
            turn,
            call,
            approval: ApprovalId(8),
            state: ApprovalState::Denied,
            channel: Channel::Page,
            reason: Some("r".into()),
            client_id: None,
        },
        Event::TurnResumed { turn, client_id: Some("c".into()), content: Some("CONFIRMAR".into()) },
        Event::OperationRecorded {
            turn,
            call,
            ordinal: 1,
            power: OperationKind::Http,
            class: EffectClass::Keyed,
            request: Value::Null,
            request_sha256: "ab".into(),
            answer_sha256: None,
            state: OperationState::Unknown,
        },
        Event::CapabilityChanged { name: "n".into(), version: 1, enabled: false },
        Event::TaskChanged { task, deleted: false },
        Event::AnswerBrokenOff {
            turn,
            answer: 9,
            model: "m".into(),
            usage: Usage { input: 1, output: 2 },
            counted: true,
            cost_micros: None,
        },
        Event::TasksHeld { tasks: vec![TaskId(4)], limit: 30, until: Some(DateTime::UNIX_EPOCH) },
        Event::TasksFired { tasks: vec![TaskId(4)], turn, due_at: vec![DateTime::UNIX_EPOCH], model: Some("ollama/m".into()) },
        Event::CapabilityInstalled {
            name: "n".into(),
            version: 1,
            sha256: "ab".into(),
            grants: Value::Null,
            fingerprint: "cd".into(),
        },
        Event::TurnEnded {
            turn,
            state: TurnState::Failed,
            reason: Some("why".into()),
            failure: Some(Failure::Model),
            retry_after: Some(30),
        },
    ];
    for event in events {
        let written = serde_json::to_value(&event).unwrap();
        assert_eq!(written["kind"], event.kind());
        assert_eq!(serde_json::from_value::<Event>(written).unwrap(), event);
    }
}
