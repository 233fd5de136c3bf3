;; A capability without JavaScript: a whole component in text. It answers with its parameters.
(component
  (core module $code
    (memory (export "memory") 1)
    (global $free (mut i32) (i32.const 16)) ;; where the next parameter is put; nothing is ever freed, each call is a new instance

    ;; the host asks for room here before it writes the parameters
    (func (export "cabi_realloc") (param $old i32) (param $old_size i32) (param $align i32) (param $size i32) (result i32)
      (local $place i32)
      (local $pages i32)
      (local.set $place (i32.and (i32.add (global.get $free) (i32.const 15)) (i32.const -16)))
      (global.set $free (i32.add (local.get $place) (local.get $size)))
      (local.set $pages (i32.sub (i32.add (i32.shr_u (global.get $free) (i32.const 16)) (i32.const 1)) (memory.size)))
      (if (i32.gt_s (local.get $pages) (i32.const 0))
        (then (if (i32.lt_s (memory.grow (local.get $pages)) (i32.const 0)) (then unreachable))))
      (local.get $place))

    ;; the answer is three numbers at address 0: 0 for success (1 for an error), where the text is, how long it is
    (func (export "run") (param $text i32) (param $length i32) (result i32)
      (i32.store (i32.const 0) (i32.const 0))
      (i32.store (i32.const 4) (local.get $text))
      (i32.store (i32.const 8) (local.get $length))
      ;; the answer
      (i32.const 0)))
  (core instance $instance (instantiate $code))
  (func (export "run") (param "params-json" string) (result (result string (error string)))
    (canon lift (core func $instance "run") (memory (core memory $instance "memory")) (realloc (core func $instance "cabi_realloc")))))
