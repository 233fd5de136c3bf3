;; Starts one operation of POWER with its own parameters as the request, and answers with its end.
(component
  (import "level3:capability/POWER@0.1.0" (instance $power (export "start" (func (param "request" string) (result u32)))))
  (import "level3:capability/operations@0.1.0" (instance $operations
    (type $fields (record (field "id" u32) (field "ok" bool) (field "value" string)))
    (export "completion" (type $completion (eq $fields)))
    (export "wait" (func (param "milliseconds" u64) (result (option $completion))))))
  (core module $memory
    (memory (export "memory") 1)
    (global $free (mut i32) (i32.const 64))
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
      (local $place i32)
      (local.set $place (global.get $free))
      (global.set $free (i32.and (i32.add (i32.add (global.get $free) (local.get 3)) (i32.const 15)) (i32.const -16)))
      (local.get $place)))
  (core instance $m (instantiate $memory))
  (core func $start (canon lower (func $power "start") (memory (core memory $m "memory")) (realloc (core func $m "cabi_realloc"))))
  (core func $wait (canon lower (func $operations "wait") (memory (core memory $m "memory")) (realloc (core func $m "cabi_realloc"))))
  (core module $code
    (import "m" "memory" (memory 1))
    (import "host" "start" (func $start (param i32 i32) (result i32)))
    (import "host" "wait" (func $wait (param i64 i32)))
    (func (export "run") (param i32 i32) (result i32)
      ;; nothing is under way yet, so this does not wait
      (call $wait (i64.const -1) (i32.const 16))
      (if (i32.load8_u (i32.const 16)) (then unreachable))
      (if (i32.ne (call $start (local.get 0) (local.get 1)) (i32.const 1)) (then unreachable))
      ;; option<completion> at 16: is it there, then id, ok, place and length of the value
      (call $wait (i64.const -1) (i32.const 16))
      (if (i32.eqz (i32.load8_u (i32.const 16))) (then unreachable))
      (if (i32.ne (i32.load (i32.const 20)) (i32.const 1)) (then unreachable))
      (i32.store (i32.const 0) (i32.eqz (i32.load8_u (i32.const 24))))
      (i32.store (i32.const 4) (i32.load (i32.const 28)))
      (i32.store (i32.const 8) (i32.load (i32.const 32)))
      (i32.const 0)))
  (core instance $i (instantiate $code
    (with "m" (instance $m)) (with "host" (instance (export "start" (func $start)) (export "wait" (func $wait))))))
  (func (export "run") (param "params-json" string) (result (result string (error string)))
    (canon lift (core func $i "run") (memory (core memory $m "memory")) (realloc (core func $m "cabi_realloc")))))
