// The rows of a query: sorted by a press on a column, copied, saved, drawn as a chart.

import { h } from "../core/dom.js";
import { styles } from "../core/styles.js";
import { words } from "../core/words.js";
import { button } from "./button.js";
import { chartable } from "./chart-data.js";
import { openDetails } from "./details.js";
import { openMenu } from "./menu.js";
import { cellText, csvOf, exactText, markdownOf, readTable, sortedRows } from "./table-text.js";

/** More rows are shown on a press: each costs layout. */
const SHOWN_ROWS = 100;
/** So many of the widest letters stand on the one line of a cell; a longer text opens in the details. */
const LONG_CELL = 22;
/** The same of figures: no digit is that wide. */
const LONG_FIGURE = 40;
/** More of a longer one nobody sees. */
const SEEN_CELL = 240;

/** `<rows-table>`: `rows = { columns: [{ name, type }], rows: [[…]], total }`; `name`, if set before, names a file of it. */
export class RowsTable extends HTMLElement {
  set rows(given) {
    styles(import.meta.url, "table.css");
    this.table = readTable(given);
    this.sorted = undefined;
    this.shown = SHOWN_ROWS;
    this.build();
  }

  build() {
    const { columns, rows } = this.table;
    this.className = "rows-table";
    this.dataset.testid = "rows-table";
    this.count = h("span", { class: "rows-count", role: "status" });
    this.heads = columns.map((column, index) => this.head(column, index));
    this.body = h("tbody");
    this.more = button("", () => this.showAll(), { kind: "quiet", class: "quiet show-all" });
    const table = h("table", {}, h("thead", {}, h("tr", {}, this.heads)), this.body);
    const scroll = h("div", { class: "table-scroll", tabindex: "0", role: "group", "aria-label": words.rows.table }, table);
    this.chartHost = h("div", { class: "rows-chart-host", hidden: true });
    const has = rows.length > 0;
    const tools = has ? [this.chartButton(), this.copyButton()] : [];
    this.replaceChildren(h("div", { class: "rows-bar" }, this.count, tools), this.chartHost, ...(columns.length > 0 ? [scroll] : []), this.more);
    this.fill();
  }

  head({ name, kind }, index) {
    const sort = h("button", { type: "button", title: words.rows.sort(name) }, h("span", { dir: "auto" }, name), h("i", { "aria-hidden": "true" }));
    sort.addEventListener("click", () => this.sortBy(index));
    return h("th", { scope: "col", "data-kind": kind, "aria-sort": "none" }, sort);
  }

  /** Up, then down, then as they came. */
  sortBy(column) {
    const was = this.sorted;
    if (was?.column !== column) this.sorted = { column, descending: false };
    else this.sorted = was.descending ? undefined : { column, descending: true };
    this.fill();
  }

  order() {
    const { sorted, table } = this;
    return sorted ? sortedRows(table, sorted.column, sorted.descending) : table.rows.map((_, index) => index);
  }

  /** The table in the order in which it is shown. */
  get inOrder() {
    return { ...this.table, rows: this.order().map((index) => this.table.rows[index]) };
  }

  fill() {
    const { columns, rows, total } = this.table;
    this.heads.forEach((head, index) => {
      const is = this.sorted?.column === index;
      head.setAttribute("aria-sort", is ? (this.sorted.descending ? "descending" : "ascending") : "none");
    });
    const now = Date.now();
    const order = this.order();
    this.body.replaceChildren(...order.slice(0, this.shown).map((index) => this.row(rows[index], columns, now)));
    this.count.textContent = rows.length === 0 ? words.rows.none : rows.length < total ? words.rows.some(rows.length, total) : words.rows.all(total);
    this.more.hidden = rows.length <= this.shown;
    this.more.textContent = words.rows.showAll(rows.length);
  }

  row(values, columns, now) {
    return h("tr", {}, columns.map((column, index) => this.cell(values[index], column, now, index === 0)));
  }

  cell(value, column, now, isFirst) {
    const { text, exact, none } = cellText(value, column, now);
    const attributes = { "data-kind": column.kind, class: none ? "none" : undefined };
    const tag = isFirst ? "th" : "td";
    if (isFirst) attributes.scope = "row";
    if (none) return h(tag, { ...attributes, title: "NULL" }, h("span", { "aria-hidden": "true" }, text), h("span", { class: "visually-hidden" }, words.rows.empty));
    const isShort = text.length <= (exact === undefined ? LONG_CELL : LONG_FIGURE) && !text.includes("\n");
    if (isShort) return h(tag, { ...attributes, title: exact !== text ? exact : undefined, dir: "auto" }, text);
    const open = h("button", { type: "button", class: "cell-long", title: words.rows.open, dir: "auto" }, text.slice(0, SEEN_CELL));
    open.addEventListener("click", () => openDetails({ title: column.name, body: wholeText(value), from: open }));
    return h(tag, attributes, open);
  }

  showAll() {
    this.shown = Infinity;
    this.fill();
  }

  copyButton() {
    const entries = [
      { text: words.rows.copyCsv, action: () => this.copy(csvOf(this.inOrder)) },
      { text: words.rows.copyMarkdown, action: () => this.copy(markdownOf(this.inOrder)) },
      { text: words.rows.download, action: () => this.download() },
    ];
    const copy = button(words.rows.copy, (anchor) => openMenu(anchor, entries), { kind: "quiet", "aria-haspopup": "menu", "aria-expanded": "false" });
    this.copyNode = copy;
    return copy;
  }

  async copy(text) {
    let said = words.rows.copied;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      said = words.rows.notCopied;
    }
    this.copyNode.textContent = said;
    setTimeout(() => (this.copyNode.textContent = words.rows.copy), 1500);
  }

  download() {
    const address = URL.createObjectURL(new Blob([csvOf(this.inOrder)], { type: "text/csv" }));
    const link = h("a", { href: address, download: `${this.name ?? "rows"}.csv` });
    link.click();
    // The browser reads it after the press; at once it would be gone.
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }

  chartButton() {
    if (!chartable(this.table)) return "";
    const open = button(words.rows.chart, () => this.toggleChart(open), { kind: "quiet", "aria-pressed": "false", "data-testid": "chart-open" });
    return open;
  }

  async toggleChart(open) {
    const shows = this.chartHost.hidden;
    this.chartHost.hidden = !shows;
    open.setAttribute("aria-pressed", String(shows));
    if (!shows || this.chartHost.firstChild) return;
    const { RowsChart } = await import("./chart.js");
    const chart = new RowsChart();
    this.chartHost.append(chart);
    await chart.show(this.table);
  }
}

function wholeText(value) {
  const text = typeof value === "object" ? JSON.stringify(value, null, 2) : exactText(value);
  return h("pre", { class: "plain", tabindex: "0", dir: "auto" }, text);
}

customElements.define("rows-table", RowsTable);
