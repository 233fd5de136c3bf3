// Runs in the browser, for `steps.test.mjs`, under the server's Content-Security-Policy: steps,
// feet, rows, charts and formulas as a person meets them, by keyboard too, and with texts that mean
// harm in every place that a model or a table can write to.

import "/chat/answer.js";
import "/chat/message.js";
import "/chat/messages.js";
import "/chat/steps.js";
import "/chat/turn-foot.js";
import { showFormulas } from "/chat/formulas.js";
import { renderMarkdown } from "/chat/markdown.js";
import { RowsTable } from "/ui/table.js";
import { HOSTILE } from "./hostile.mjs";

const foreign = document.body.dataset.foreign;
let pwned = 0;
window.pwned = () => (pwned += 1);
const errors = [];
const violations = [];
addEventListener("error", ({ message }) => errors.push(message));
addEventListener("securitypolicyviolation", ({ violatedDirective, sample, sourceFile }) => violations.push(`${violatedDirective} ${sample} ${sourceFile}`));

const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
/** Waits for something that comes by itself, such as a library. */
async function until(check) {
  for (let tries = 0; tries < 600 && !check(); tries++) await frame();
  return Boolean(check());
}

const list = document.createElement("l3-messages");
document.body.append(list);
const show = (rows) => (list.data = { rows, hasEarlier: false });
const step = (call, more = {}) => ({ key: `call:${call}`, kind: "tool", name: "execute_sql", args: { query: `SELECT ${call}` }, state: "ok", came: "ok", called: true, lost: false, call, kept: 0, outcome: { ok: true, result: "[]", said: "It gave 0 rows.", ms: 5 }, ...more });
const steps = (all, live = false) => ({ key: "steps:1", kind: "steps", steps: all, live });
const foot = (more = {}) => ({ key: "foot:1", kind: "foot", turn: 1, at: "2026-11-22T10:00:00Z", ms: 1234, requests: 2, input: 900, output: 100, cost: null, answer: "the answer", said: "do it", retryAt: 0, branchAt: 9, ...more });
const said = (content, more = {}) => ({ key: "said:1", kind: "user", content, images: [], steered: false, ...more });
const answered = (content, more = {}) => ({ key: "a:1", kind: "assistant", content, final: true, unproven: false, streaming: false, partial: false, ...more });
const part = (selector) => list.querySelector(selector);
const press = (node) => (node.focus(), node.click());

async function folded() {
  const forty = Array.from({ length: 40 }, (_, call) => step(call + 1));
  show([said("go"), steps(forty), answered("done"), foot()]);
  await frame();
  const element = part("l3-steps");
  const checks = {
    forty_steps_take_at_most_120_px_folded: element.offsetHeight > 0 && element.offsetHeight <= 120,
    each_step_has_a_dot: element.querySelectorAll(".steps-dots i").length === 40,
    the_line_says_how_many_of_which_kind: element.querySelector("summary").textContent.includes("40 steps · 40 SQL · 200 ms"),
    no_step_is_seen_before_it_is_opened: !element.querySelector("l3-tool").checkVisibility(),
  };
  press(element.querySelector("summary"));
  await frame();
  const inner = element.querySelectorAll("l3-tool > details");
  press(inner[3].querySelector("summary"));
  await frame();
  checks.a_step_opens_with_what_was_asked = inner[3].open && inner[3].textContent.includes("SELECT 4");
  // A later step leaves what is open as it is, and the focus where it was.
  show([said("go"), steps([...forty.slice(0, 39), step(40, { outcome: { ok: true, result: "[]", said: "It gave 7 rows." } })]), answered("done"), foot()]);
  await frame();
  checks.what_is_open_stays_open_with_the_focus = inner[3].open && inner[3].contains(document.activeElement) && element.textContent.includes("It gave 7 rows.");
  return checks;
}

async function outcomes() {
  const unknown = step(1, { name: "send_report", came: "unknown", state: "failed", operations: [{ ordinal: 1, power: "http", request: { method: "POST", url: "https://api.example/" }, state: "unknown" }], outcome: { ok: false, result: "Do not repeat this.", uncertain: true, said: "It may or may not have happened." } });
  const denied = step(2, { came: "denied", state: "failed", outcome: { ok: false, result: "The user refused this: no", refusal: "denied", said: "It was not allowed." } });
  const mended = step(3, { came: "mended", state: "failed", outcome: { ok: false, result: "Make it yourself, the user cannot.", said: "The database refused the statement.", fault: { message: "Error: <b>no</b> such city", line: 7 } } });
  show([steps([unknown, denied, mended])]);
  await frame();
  const box = part("[data-testid=tool-unknown]");
  const warn = getComputedStyle(box).borderTopColor;
  const danger = document.createElement("p");
  danger.className = "refused";
  part("l3-steps").append(danger);
  const red = getComputedStyle(danger).color;
  const words = list.textContent;
  let asked;
  list.addEventListener("write-this", ({ detail }) => (asked = detail), { once: true });
  press(box.querySelector("button"));
  const checks = {
    what_nobody_knows_is_in_sight_by_itself: box.checkVisibility() && box.textContent.includes("POST https://api.example/") && box.textContent.includes("not repeated"),
    what_nobody_knows_is_not_red_and_not_called_failed: warn !== red && !/fail/i.test(words),
    the_assistant_can_be_asked_to_look: /send_report/.test(asked),
    a_person_s_own_no_and_what_was_mended_are_not_red: ["denied", "mended"].every((came) => getComputedStyle(part(`[data-came=${came}].step .step-said`)).color !== red),
    no_words_for_the_model_are_seen: !/Make it yourself|Do not repeat|The user refused/.test(words),
  };
  part("l3-steps > details").open = true;
  await frame();
  const inside = part("[data-came=mended] > details");
  inside.open = true;
  await frame();
  checks.the_words_that_code_threw_are_inside_with_their_line = /line 7/.test(inside.textContent) && inside.textContent.includes("Error: <b>no</b> such city") && !words.includes("such city");
  inside.querySelector(".tool-more").open = true;
  await frame();
  checks.they_can_be_read_on_request = inside.textContent.includes("Make it yourself");
  danger.remove();
  const stated = (result, more = {}) => step(1, { outcome: { ok: true, result, said: "It is said." }, ...more });
  const results = async (shown) => {
    show([steps([shown])]);
    await frame();
    for (const details of list.querySelectorAll("l3-steps > details, l3-tool > details")) details.open = true;
    await frame();
    return [...list.querySelectorAll(".tool-part:last-of-type :is(.status, .fields th)")].map((node) => node.textContent).join();
  };
  checks.what_the_line_says_of_a_statement_is_not_said_again = (await results(stated('{"row_count":3}'))) === "" && (await results(stated('{"done":"CREATE"}'))) === "";
  checks.of_several_statements_each_is_told_in_words = (await results(stated('{"results":[{"done":"CREATE"},{"row_count":10}]}'))) === "CREATE,10 rows";
  checks.the_fields_of_a_capability_are_its_own = (await results(stated('{"row_count":3}', { name: "count", args: {} }))) === "row_count";
  show([steps([step(1, { kept: 2 }), step(2), step(3, { undone: 1 })])]);
  await frame();
  const undos = [...list.querySelectorAll("[data-testid=tool-undo]")];
  list.addEventListener("undo-call", ({ detail }) => detail.reject(new Error("it is not as the call left it")), { once: true });
  press(undos[0].querySelector("button"));
  await frame();
  checks.what_can_be_put_back_is_in_sight_folded_or_not = undos.length === 2 && undos.every((node) => node.checkVisibility());
  checks.why_it_cannot_be_put_back_is_said_there = undos[0].textContent.includes("it is not as the call left it");
  return checks;
}

async function feet() {
  show([said("do it", { editAt: 0 }), answered("the answer"), foot()]);
  await frame();
  const facts = part(".foot-facts").textContent;
  const heard = [];
  for (const type of ["retry-turn", "branch-turn", "edit-turn"]) list.addEventListener(type, ({ detail }) => heard.push([type, detail.retryAt ?? detail.editAt]), { once: true });
  for (const name of ["turn-retry", "turn-branch", "message-edit"]) press(part(`[data-testid=${name}]`));
  const checks = {
    the_foot_says_how_long_and_how_much: facts.includes("1.2 s") && facts.includes("1.0k tokens"),
    there_is_no_cost_where_no_rate_is_set: !facts.includes("$"),
    a_turn_can_be_tried_again_branched_and_edited: JSON.stringify(heard) === '[["retry-turn",0],["branch-turn",0],["edit-turn",0]]',
  };
  show([said("do it"), answered("the answer"), foot({ cost: 5210 })]);
  checks.a_cost_is_said_where_it_is_known = part(".foot-facts").textContent.includes("$0.0052");
  show([said("do it"), answered("the answer", { retried: 9 }), foot()]);
  await frame();
  checks.an_answer_that_was_tried_again_folds = !part(".markdown").checkVisibility() && part("[data-testid=retried] a").getAttribute("href") === "#chat/9";
  show([said("do it"), answered("the answer"), foot()]);
  checks.and_unfolds = part(".markdown").checkVisibility() && part("[data-testid=retried]") === null;
  return checks;
}

const COLUMNS = [{ name: "title", type: "text" }, { name: "pages", type: "int4" }, { name: "bought", type: "date" }, { name: "note", type: "text" }];
const ROWS = [["Solaris", 204, "2026-03-02", null], ["Dune", 41200, "2026-01-02", "long ".repeat(40)], ["Ubik", 202, "2026-02-02", "x"]];

async function rows() {
  const table = new RowsTable();
  table.rows = { columns: COLUMNS, rows: ROWS, total: 300 };
  document.body.append(table);
  const first = () => [...table.querySelectorAll("tbody tr")].map((row) => row.firstElementChild.textContent).join();
  const [, pages, bought] = table.querySelectorAll("thead th");
  const as = (head) => head.getAttribute("aria-sort");
  const checks = { how_many_of_how_many_is_said: table.querySelector(".rows-count").textContent === "3 of 300 rows" };
  press(pages.querySelector("button"));
  checks.a_press_sorts_up = first() === "Ubik,Solaris,Dune" && as(pages) === "ascending";
  press(pages.querySelector("button"));
  checks.another_sorts_down = first() === "Dune,Solaris,Ubik" && as(pages) === "descending" && document.activeElement === pages.querySelector("button");
  press(bought.querySelector("button"));
  checks.another_column_takes_over = first() === "Dune,Ubik,Solaris" && as(pages) === "none" && as(bought) === "ascending";
  for (let presses = 0; presses < 2; presses++) press(bought.querySelector("button"));
  checks.a_third_press_gives_the_first_order_back = first() === "Solaris,Dune,Ubik" && as(bought) === "none";
  const cells = table.querySelectorAll("tbody tr:nth-child(2) > *");
  await until(() => getComputedStyle(cells[1]).textAlign === "end");
  checks.numbers_stand_at_the_end_with_separators = getComputedStyle(cells[1]).textAlign === "end" && cells[1].textContent === "41,200" && cells[1].title === "41200";
  checks.what_is_empty_is_a_dash = table.querySelector("tbody td.none").textContent.startsWith("–");
  checks.no_cell_breaks_a_word = [...table.querySelectorAll("tbody td, tbody th")].every((cell) => getComputedStyle(cell).whiteSpace === "nowrap" && cell.offsetHeight < 60);
  const wide = new RowsTable();
  const texts = ["W".repeat(22), "W".repeat(60), "A title of more than fifty letters, as books have them."];
  wide.rows = { columns: COLUMNS.slice(0, 2), rows: [...texts.map((text) => [text, null]), ...Array.from({ length: 97 }, (_, at) => [`Book ${at}`, null])] };
  const box = document.createElement("div");
  Object.assign(box.style, { position: "relative", height: "300px", overflow: "auto" });
  box.append(wide);
  document.body.append(box);
  const hidden = wide.querySelector(".visually-hidden");
  checks.what_is_hidden_in_a_table_scrolls_with_it = hidden.offsetParent === wide.querySelector(".table-scroll") && box.scrollHeight < 1500;
  checks.no_cell_is_cut_that_cannot_be_opened = [...wide.querySelectorAll("tbody > tr > *")].every((cell) => cell.scrollWidth <= cell.clientWidth);
  const [whole, ...longer] = wide.querySelectorAll("tbody tr:nth-child(-n + 3) > th");
  checks.a_longer_text_stands_on_one_line_and_opens = whole.querySelector(".cell-long") === null && longer.every((cell) => cell.querySelector(".cell-long") && cell.offsetHeight < 1.5 * whole.offsetHeight);
  box.remove();
  const long = table.querySelector(".cell-long");
  press(long);
  await frame();
  checks.a_long_cell_opens_whole = document.body.textContent.includes("long ".repeat(39)) && document.querySelector("dialog, aside, [role=dialog]") !== null;
  document.querySelector("dialog")?.close();
  await frame();
  checks.the_focus_goes_back_to_the_cell = document.activeElement === long;
  checks.nothing_of_the_chart_is_loaded_before_it_is_asked_for = globalThis.uPlot === undefined;
  press(table.querySelector("[data-testid=chart-open]"));
  checks.a_chart_is_drawn = await until(() => table.querySelector("rows-chart canvas"));
  const canvas = table.querySelector("canvas");
  checks.a_chart_says_what_it_shows = canvas?.getAttribute("aria-label") === "Line of pages by bought, 3 points. The table below has the values." && table.querySelector("tbody").checkVisibility();
  const [, across] = table.querySelectorAll(".chart-pick select");
  across.value = "0";
  across.dispatchEvent(new Event("change"));
  checks.columns_can_be_chosen = table.querySelector("canvas").getAttribute("aria-label").startsWith("Bars of pages by title");
  table.rows = { columns: [{ name: "on", type: "date" }, { name: "sum", type: "int8" }], rows: [["2026-01-02", 1e10], ["2026-02-02", 25e9], ["2026-03-02", 123456789012345]], total: 3 };
  press(table.querySelector("[data-testid=chart-open]"));
  await until(() => table.querySelector("rows-chart canvas"));
  await frame();
  const { plot } = table.querySelector("rows-chart");
  const [, axis] = plot.axes;
  plot.ctx.font = getComputedStyle(table.querySelector("rows-chart")).fontSize + " sans-serif";
  const longest = Math.max(...axis._values.map((label) => plot.ctx.measureText(label).width));
  checks.the_longest_number_beside_a_chart_has_room = axis._values.some((label) => label.length > 14) && longest < axis._size;
  table.remove();
  checks.a_chart_that_is_gone_watches_nothing = document.querySelector(".uplot") === null;
  return checks;
}

/** Pixels of a canvas, of which only the marks count and not the colours. */
const maskOf = ({ data }) => data.filter((_, index) => index % 4 === 3).join();
const pixelsOf = (canvas, box = [0, 0, canvas.width, canvas.height]) => canvas.getContext("2d").getImageData(...box);

/** A chart of six series: told apart without colours, and drawn anew in another look. */
async function marks() {
  const root = document.documentElement;
  const names = ["a", "b", "c", "d", "e", "f"];
  const table = new RowsTable();
  const dates = ["2026-01-02", "2026-02-02", "2026-03-02"];
  table.rows = { columns: [{ name: "on", type: "date" }, { name: "title", type: "text" }, ...names.map((name) => ({ name, type: "int4" }))], rows: dates.map((date) => [date, `in ${date}`, ...names.map(() => 100)]), total: 3 };
  document.body.append(table);
  press(table.querySelector("[data-testid=chart-open]"));
  await until(() => table.querySelector("rows-chart .chart-canvas canvas"));
  const chart = table.querySelector("rows-chart");
  const [up, across] = chart.querySelectorAll(".chart-pick select");
  const pick = (select, value) => ((select.value = value), select.dispatchEvent(new Event("change")));
  const drawn = () => chart.querySelector(".chart-canvas canvas");
  const legend = () => [...chart.querySelectorAll(".chart-legend canvas")];
  const apart = (masks) => masks.length === 6 && new Set(masks).size === 6;
  pick(up, "every");
  const checks = { six_lines_have_six_dashes_and_the_legend_has_them_too: new Set(chart.plot.series.slice(1).map(({ dash }) => dash.join())).size === 6 && apart(legend().map((mark) => maskOf(pixelsOf(mark)))) };
  pick(across, "1");
  // The library draws a moment later.
  await frame();
  const { plot } = chart;
  const body = (index) => [Math.round(plot.valToPos(plot.data[0][index], "x", true)) - 6, Math.round(plot.valToPos(50, "y", true)) - 6, 12, 12];
  checks.six_bars_have_six_marks_besides_their_colours = apart(names.map((_, index) => maskOf(pixelsOf(drawn(), body(index)))));
  checks.the_legend_of_bars_has_them_too = apart(legend().map((mark) => maskOf(pixelsOf(mark))));
  pick(up, "2");
  const look = () => {
    const { data } = pixelsOf(drawn());
    const colour = getComputedStyle(legend()[0]).color.match(/\d+/g).slice(0, 3).map(Number);
    return data.some((_, at) => at % 4 === 0 && data[at + 3] === 255 && colour.every((value, channel) => data[at + channel] === value));
  };
  root.dataset.theme = "light";
  checks.a_chart_has_the_colours_of_the_look = await until(look);
  const light = getComputedStyle(legend()[0]).color;
  root.dataset.theme = "dark";
  checks.a_look_that_is_chosen_draws_it_anew = (await until(look)) && getComputedStyle(legend()[0]).color !== light;
  delete root.dataset.theme;
  table.remove();
  root.dataset.theme = "dark";
  await frame();
  checks.a_chart_that_is_gone_is_not_drawn_anew = document.querySelector(".uplot") === null;
  delete root.dataset.theme;
  return checks;
}

/** Texts that mean harm, wherever a text can come from. */
async function hostile() {
  const texts = Object.values(HOSTILE).map((text) => text.replaceAll("FOREIGN", foreign));
  const found = [];
  const forbidden = "script,style,iframe,form,input,textarea,math,template,video,audio,object,embed,base,link,meta,source,img,b,[style],[onerror],[onload],[srcset],[ping]";
  for (const text of texts) {
    const result = JSON.stringify([{ [text]: text, n: 1 }, { [text]: "y", n: 2 }]);
    const columns = [{ name: text, type: "text" }, { name: "n", type: "int4" }];
    const operations = [{ ordinal: 1, power: text, request: { method: text, url: text }, state: "unknown" }];
    show([
      said(`${text}\n\n\`\`\`file "${text.replace(/["\n`]/g, "").slice(0, 90)}"\n${text}\n\`\`\``, { editAt: 0 }),
      steps([step(1, { name: text, args: { [text]: text }, came: "unknown", operations, outcome: { ok: true, result, columns, said: text, ms: 1, logs: [text] } }), step(2, { args: text, came: "mended", state: "failed", outcome: { ok: false, result: text, said: text, fault: { message: text, line: text } } })]),
      foot({ answer: text, said: text }),
    ]);
    for (let round = 0; round < 3; round++) {
      for (const details of list.querySelectorAll("details")) details.open = true;
      await frame();
    }
    list.querySelector("[data-testid=chart-open]")?.click();
    if (!(await until(() => list.querySelector("rows-chart canvas")))) found.push(`no chart: ${text.slice(0, 60)}`);
    // Places that uPlot gives its own elements by script are no style of the text.
    found.push(...[...list.querySelectorAll(forbidden)].filter((node) => !node.closest(".uplot") && !node.matches(".rows-chart *")).map((node) => node.outerHTML.slice(0, 200)));
    for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  }
  return found;
}

const TEX = ["\\href{javascript:pwned()}{x}", "\\url{FOREIGN/u}", "\\includegraphics{FOREIGN/i.png}", "\\style{background:url(FOREIGN/s.png)}{x}", "\\class{button}{x}", "\\id{composer-text}{x}", "\\data{a=b}{x}", "\\text{<img src=x onerror=pwned()>}", "\\color{red}{x}", "\\def\\a{\\a\\a}\\a", "\\rule{9999em}{9999em}", "x^{".repeat(2000), "\\frac{", "\\unicode{x3c}script"];

async function formulas() {
  const host = document.createElement("div");
  document.body.append(host);
  const math = () => host.querySelectorAll("math").length;
  renderMarkdown(host, "Area $\\pi r^2$ and \\(a_b\\).\n\n$$\\int_0^1 x\\,dx = \\frac12$$\n\nIt costs $5 and $6, `$x$`, $HOME/$PATH.");
  const checks = { a_formula_is_drawn: await until(() => math() === 3) };
  checks.what_is_no_formula_stays_as_it_is = host.textContent.includes("$5 and $6") && host.querySelector("code")?.textContent === "$x$" && host.textContent.includes("$HOME/$PATH");
  checks.a_display_formula_is_a_block = host.querySelector("math[display=block]") !== null;
  const sums = ["It costs US$10 (about R$ 55,00) a month.", "De R$5 a R$ 10 por dia.", "It costs $5 and $10. Preço: R$ 5,00 e R$ 10,00.", "Take the $HOME/bin$ folder.", "Costs $1,000-$2,000, or $10 (now 20$).", "US$$5 and R$$6"];
  renderMarkdown(host, sums.join("\n\n"));
  checks.sums_of_money_are_no_formula = math() === 0 && host.querySelector("code") === null && [...host.querySelectorAll("p")].every((node, index) => node.textContent === sums[index]);
  renderMarkdown(host, "$2^n$, $3 \\times 4$, $x + R$, 公式$x^2$, **where** $2 \\text{ apples}$, ($a/b$) and $AB + BC$");
  checks.a_formula_may_begin_with_a_digit_and_end_with_a_letter = await until(() => math() === 7);
  const found = [];
  for (const tex of TEX) {
    renderMarkdown(host, `before $${tex.replaceAll("FOREIGN", foreign)}$ after`);
    showFormulas(host);
    await frame();
    const bad = host.querySelectorAll("a[href], img, script, style, [style], [id], [href], [src], [data-a], .button");
    found.push(...[...bad].map((node) => `${tex.slice(0, 40)}: ${node.outerHTML.slice(0, 200)}`));
    if (!host.textContent.includes("after")) found.push(`${tex}: the text around it is gone`);
  }
  host.remove();
  return { checks, found };
}

async function run() {
  const checks = { ...(await folded()), ...(await outcomes()), ...(await feet()), ...(await rows()), ...(await marks()) };
  const tex = await formulas();
  const found = [...tex.found, ...(await hostile())];
  const before = { pwned, violations: [...violations] };
  const control = document.createElement("p");
  control.setAttribute("style", "color: red");
  document.body.append(control);
  const noticed = await until(() => violations.length > before.violations.length);
  return { checks: { ...checks, ...tex.checks }, found, errors, ...before, control: { noticed } };
}

const report = await run().catch((error) => ({ failure: String(error.stack) }));
await fetch("/report", { method: "POST", body: JSON.stringify(report) });
