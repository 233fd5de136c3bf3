// English: news that a screen reader reads out.

export default {
  announced: {
    capability: (name, version, on) => `Capability ${name} version ${version} is ${on ? "live" : "disabled"}`,
    approval: (what) => `Your approval is needed. ${what}`,
    error: (text) => `Error: ${text}`,
    due: "A task fell due",
    again: "Connected again",
    connection: (state) => `Connection: ${state}`,
  },
};
