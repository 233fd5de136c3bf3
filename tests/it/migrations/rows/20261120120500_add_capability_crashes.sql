INSERT INTO capability_crashes VALUES (4, 1, 'adder', 1, '2026-11-02T08:00Z');
