-- A capability may be handed in as a component that was built elsewhere; its source is then the component's bytes in base64.
ALTER TABLE capability_versions DROP CONSTRAINT capability_versions_language_check;
ALTER TABLE capability_versions
    ADD CONSTRAINT capability_versions_language_check CHECK (language IN ('javascript', 'wat', 'wasm'));
