-- The controller's words for the person behind the answer that ends a task of the operator in which
-- no call was carried out. The model did not say them, so they stand beside its text, not in it.
ALTER TABLE steps ADD COLUMN note TEXT;

-- As before, but for the note: an answer after which the turn goes on has none.
CREATE OR REPLACE FUNCTION insert_step(
    p_conversation BIGINT, p_answered JSONB, p_calls JSONB[], p_input_micros BIGINT, p_output_micros BIGINT, p_at TIMESTAMPTZ
) RETURNS JSONB[]
LANGUAGE plpgsql AS $$
DECLARE
    v_answered CONSTANT JSONB := CASE WHEN (p_answered ->> 'last')::boolean THEN p_answered ELSE p_answered - 'note' END;
    v_turn CONSTANT BIGINT := p_answered ->> 'turn';
    v_model CONSTANT TEXT := p_answered ->> 'model';
    -- NULL if the provider did not count. Numbers beyond the column's are the largest there is.
    v_input CONSTANT BIGINT :=
        CASE WHEN jsonb_typeof(p_answered -> 'usage') = 'object' THEN least((p_answered #>> '{usage,input}')::numeric, 9223372036854775807) END;
    v_output CONSTANT BIGINT :=
        CASE WHEN jsonb_typeof(p_answered -> 'usage') = 'object' THEN least((p_answered #>> '{usage,output}')::numeric, 9223372036854775807) END;
    v_step BIGINT;
    v_cost BIGINT;
    v_call JSONB;
    v_number BIGINT;
    v_events JSONB[];
BEGIN
    INSERT INTO steps (turn_id, number, model, finish_reason, input_tokens, output_tokens, cost_micros, created_at, unproven, note)
    VALUES (v_turn, (p_answered ->> 'number')::integer, v_model, p_answered ->> 'finish_reason', v_input, v_output,
            cost_at(v_model, v_input, v_output, p_input_micros, p_output_micros), p_at, (p_answered ->> 'unproven')::boolean,
            v_answered ->> 'note')
    RETURNING step_id, cost_micros INTO v_step, v_cost;
    INSERT INTO messages (conversation_id, turn_id, role, content, step_id, created_at)
    VALUES (p_conversation, v_turn, 'assistant', p_answered ->> 'content', v_step, p_at);
    v_events := ARRAY[v_answered || jsonb_build_object('step', v_step, 'cost_micros', v_cost)];
    FOREACH v_call IN ARRAY p_calls LOOP
        INSERT INTO tool_calls (turn_id, step_id, position, request_id, name, arguments, created_at)
        VALUES (v_turn, v_step, (v_call ->> 'position')::integer, v_call #>> '{request,id}', v_call #>> '{request,name}',
                v_call #>> '{request,arguments}', p_at)
        RETURNING tool_call_id INTO v_number;
        v_events := array_append(v_events, v_call || jsonb_build_object('step', v_step, 'call', v_number));
    END LOOP;
    RETURN v_events;
END $$;
