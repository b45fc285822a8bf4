// Made of explorer.html by script/explorer-page. Change that, and run this again.
// swift-format-ignore-file

extension ExplorerPage {
    /// The page, as it is in explorer.html.
    static let html: StaticString = #"""
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Relay explorer</title>
<style>
:root {
  color-scheme: light dark;
  --page: light-dark(#f7f7f5, #15171a); --panel: light-dark(#ffffff, #1c1f23); --raised: light-dark(#f1f1ee, #262a2f);
  --line: light-dark(#dfdfda, #33383f); --text: light-dark(#1d2126, #e4e7eb); --quiet: light-dark(#5c636d, #9ba3ae);
  --accent: light-dark(#1f55c4, #8ab0ff); --onaccent: light-dark(#ffffff, #10131a);
  --good: light-dark(#1b7a3d, #6fce8f); --warn: light-dark(#8a5a00, #e5b454); --bad: light-dark(#b3261e, #ff8f85);
  --added: light-dark(#def3e2, #16351f); --changed: light-dark(#fff0c7, #3d3211); --removed: light-dark(#fbe1df, #44201e);
  --keyword: light-dark(#8a2fa8, #d9a0f0); --name: light-dark(#1f55c4, #8ab0ff); --string: light-dark(#1b7a3d, #7fd39b);
  --number: light-dark(#9a4a00, #f0ac6b);
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "Roboto Mono", "Noto Sans Mono", "DejaVu Sans Mono", monospace;
}
:root[data-theme=light] { color-scheme: light; }
:root[data-theme=dark] { color-scheme: dark; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html, body { height: 100%; margin: 0; }
body { background: var(--page); color: var(--text); font: 13px/1.45 var(--sans); }
h1, h2, h3, p, ul, dl, dd, figure { margin: 0; padding: 0; }
ul { list-style: none; }
h2 { font-size: 14px; font-weight: 600; overflow-wrap: anywhere; }
h3 { font-size: 11px; font-weight: 600; letter-spacing: .04em; text-transform: uppercase; color: var(--quiet); }
button, input, select, textarea { font: inherit; color: inherit; }
button, select, input {
  background: var(--panel); border: 1px solid var(--line); border-radius: 5px; padding: 2px 9px; min-height: 26px; max-width: 100%;
}
button { cursor: pointer; white-space: nowrap; }
button:hover:not(:disabled) { background: var(--raised); }
button:disabled { opacity: .5; cursor: default; }
button.main { background: var(--accent); border-color: var(--accent); color: var(--onaccent); font-weight: 600; }
button.main:hover:not(:disabled) { background: var(--accent); filter: brightness(1.08); }
button.bare { border-color: transparent; background: none; padding: 2px 6px; }
button.bare:hover:not(:disabled) { background: var(--raised); }
button.link { border: 0; background: none; padding: 0; min-height: 0; color: var(--accent); font: inherit; text-align: start; white-space: inherit; overflow-wrap: anywhere; }
button.link.bad { color: var(--bad); }
button.link:hover:not(:disabled) { background: none; text-decoration: underline; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
relay-rows:focus-visible, textarea:focus-visible { outline-offset: -2px; }
code, .mono, textarea, relay-rows { font-family: var(--mono); font-size: 12.5px; }
bdi { unicode-bidi: isolate; }
.quiet { color: var(--quiet); } .good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); }
.row { display: flex; align-items: center; gap: 6px; flex-wrap: wrap; min-width: 0; }
.grow { flex: 1 1 auto; min-width: 0; }
.panel { background: var(--panel); border: 1px solid var(--line); border-radius: 7px; min-width: 0; min-height: 0; display: flex; flex-direction: column; overflow: hidden; }
.panel > header { padding: 5px 8px; border-bottom: 1px solid var(--line); display: flex; gap: 6px; align-items: center; flex-wrap: wrap; min-height: 37px; }
.body { padding: 8px; overflow: auto; min-height: 0; flex: 1 1 auto; display: flex; flex-direction: column; gap: 8px; overflow-wrap: anywhere; }
.seen-by-readers { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.value-string { color: var(--string); } .value-number, .value-boolean { color: var(--number); } .value-null { color: var(--quiet); }
.added { background: var(--added); } .changed { background: var(--changed); } .removed { background: var(--removed); text-decoration: line-through; }

relay-explorer { display: flex; flex-direction: column; height: 100%; }
.top { display: flex; align-items: center; gap: 4px 14px; flex-wrap: wrap; padding: 0 12px; background: var(--panel); border-bottom: 1px solid var(--line); min-height: 42px; }
.top h1 { font-size: 14px; font-weight: 700; }
.top nav { display: flex; align-self: stretch; gap: 2px; }
.top nav a { display: flex; align-items: center; padding: 0 10px; min-height: 40px; color: var(--quiet); text-decoration: none; border-bottom: 2px solid transparent; }
.top nav a:hover { color: var(--text); }
.top nav a[aria-current] { color: var(--text); font-weight: 600; border-color: var(--accent); }
.connection::before { content: ""; display: inline-block; width: 8px; height: 8px; border-radius: 50%; margin-inline-end: 6px; background: var(--warn); }
.connection[data-state=open]::before { background: var(--good); }
.connection[data-state=waiting]::before, .connection[data-state=refused]::before { background: var(--bad); }
.banner { display: flex; gap: 8px; align-items: center; padding: 4px 12px; background: var(--changed); border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
main { flex: 1 1 auto; min-height: 0; }
main > * { display: block; height: 100%; padding: 10px; }
dialog { background: var(--panel); color: var(--text); border: 1px solid var(--line); border-radius: 9px; padding: 14px; width: min(680px, 94vw); max-height: 86vh; box-shadow: 0 12px 48px #0005; }
dialog[open] { display: flex; flex-direction: column; gap: 10px; }
dialog::backdrop { background: #0006; }
dialog textarea { width: 100%; height: 46vh; border: 1px solid var(--line); border-radius: 5px; background: var(--page); padding: 8px; }
dialog input { width: 100%; }
kbd { font: 11.5px var(--mono); border: 1px solid var(--line); border-bottom-width: 2px; border-radius: 4px; padding: 0 5px; }
.keys { display: grid; grid-template-columns: auto 1fr; gap: 5px 14px; }

relay-rows { display: block; position: relative; overflow: auto; flex: 1 1 auto; min-height: 0; contain: strict; line-height: 22px; }
relay-rows > .head { position: sticky; top: 0; z-index: 1; background: var(--raised); border-bottom: 1px solid var(--line); min-width: 100%; width: max-content; font-weight: 600; padding: 0 8px; }
relay-rows > .space { position: relative; min-width: 100%; }
relay-rows > .space > * { position: absolute; left: 0; min-width: 100%; width: max-content; height: 22px; padding: 0 8px; white-space: pre; cursor: default; }
relay-rows > .space > *:hover { background-color: var(--raised); }
relay-rows:focus > .space > .active { box-shadow: inset 2px 0 var(--accent); background-color: var(--raised); }
relay-rows > .space > [aria-selected=true] { background-color: light-dark(#e3ebfb, #24314d); }
relay-rows .cells { display: grid; gap: 10px; }
.cells > * { overflow: hidden; text-overflow: ellipsis; white-space: pre; min-width: 0; }
relay-tree { display: flex; flex-direction: column; min-height: 0; flex: 1 1 auto; }
relay-tree .twist { display: inline-block; width: 14px; color: var(--quiet); }
relay-tree .indent { display: inline-block; width: calc(var(--depth) * 14px); }
relay-tree .key { color: var(--name); }
relay-tree .inside > .twist { color: var(--warn); font-weight: 700; }

.operations { display: grid; grid-template-columns: minmax(300px, 2fr) minmax(0, 3fr); gap: 10px; }
.tabs { display: flex; gap: 2px; overflow-x: auto; }
.tabs > span { display: flex; align-items: center; border-radius: 5px; }
.tabs > span.current { background: var(--raised); }
.tabs [role=tab] { max-width: 150px; overflow: hidden; text-overflow: ellipsis; }
relay-editor { display: flex; flex-direction: column; flex: 1 1 auto; min-height: 0; }
.code { position: relative; flex: 1 1 auto; overflow: auto; min-height: 120px; }
.code > .stack { display: grid; min-height: 100%; }
.code pre, .code textarea { grid-area: 1 / 1; margin: 0; border: 0; padding: 10px; font: 12.5px/1.55 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 2; min-height: 100%; overflow: hidden; resize: none; width: 100%; border-radius: 0; }
.code textarea { background: none; color: transparent; caret-color: var(--text); }
.code textarea::selection { background: light-dark(#b9d0fb, #35518c); color: transparent; }
.code pre { pointer-events: none; }
::highlight(keyword) { color: var(--keyword); } ::highlight(variable) { color: var(--number); } ::highlight(literal) { color: var(--string); }
::highlight(number) { color: var(--number); } ::highlight(comment) { color: var(--quiet); } ::highlight(typename) { color: var(--name); }
::highlight(mistake) { text-decoration: underline wavy var(--bad); }
.completions { position: absolute; z-index: 5; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; box-shadow: 0 6px 24px #0003; width: min(380px, 90%); font: 12.5px/1.5 var(--mono); }
.completions ul { max-height: 190px; overflow: auto; }
.completions li { display: flex; gap: 10px; padding: 1px 8px; justify-content: space-between; cursor: default; }
.completions li[aria-selected=true] { background: var(--accent); color: var(--onaccent); }
.completions li[aria-selected=true] .quiet { color: inherit; }
.completions li.old { text-decoration: line-through; }
.completions p { border-top: 1px solid var(--line); padding: 4px 8px; font-family: var(--sans); color: var(--quiet); max-height: 60px; overflow: auto; }
.mistakes { max-height: 96px; overflow: auto; border-top: 1px solid var(--line); padding: 4px 10px; }
.mistakes:empty { display: none; }
.variables { border-top: 1px solid var(--line); display: flex; flex-direction: column; }
.variables label { padding: 4px 10px 0; }
.variables textarea { border: 0; background: none; padding: 4px 10px; height: 88px; resize: vertical; }
.runs { display: grid; gap: 10px; grid-template-columns: repeat(auto-fit, minmax(min(320px, 100%), 1fr)); grid-auto-rows: minmax(200px, 1fr); height: 100%; overflow: auto; min-height: 0; }
.empty { display: grid; place-content: center; text-align: center; gap: 6px; color: var(--quiet); height: 100%; padding: 20px; }
relay-run .split { display: grid; grid-template-columns: 176px minmax(0, 1fr); flex: 1 1 auto; min-height: 0; }
relay-run .split > relay-rows { border-inline-end: 1px solid var(--line); }
relay-run { container-type: inline-size; }
@container (max-width: 520px) {
  relay-run .split { grid-template: 96px minmax(0, 1fr) / minmax(0, 1fr); }
  relay-run .split > relay-rows { border-inline-end: 0; border-bottom: 1px solid var(--line); }
}
relay-run .split.single { grid-template: minmax(0, 1fr) / minmax(0, 1fr); }
relay-run .note { padding: 3px 10px; border-bottom: 1px solid var(--line); }
relay-run .note:empty { display: none; }
relay-run input[type=search] { width: 110px; }

.schema { display: grid; grid-template-columns: minmax(220px, 1fr) minmax(0, 3fr); gap: 10px; }
.fields > li { padding: 7px 0; border-top: 1px solid var(--line); display: grid; gap: 2px; }
.fields > li:first-child { border-top: 0; }
.signature { font-family: var(--mono); font-size: 12.5px; overflow-wrap: anywhere; }
.fields > li.aim { background: var(--changed); }

.data { display: grid; grid-template: auto minmax(0, 1fr) / 250px minmax(0, 1fr) minmax(280px, 340px); gap: 10px; }
.timeline { grid-column: 1 / -1; padding: 6px 10px; display: grid; gap: 4px; }
.timeline input[type=range] { flex: 1 1 160px; min-width: 0; padding: 0; accent-color: var(--accent); }
.timeline input[type=number] { width: 100px; }
.stack-of { display: grid; gap: 10px; min-height: 0; min-width: 0; }
.left { grid-template-rows: minmax(80px, auto) minmax(160px, 1fr); }
.types { max-height: 220px; overflow: auto; padding: 4px; }
.types button { display: flex; justify-content: space-between; width: 100%; border-color: transparent; background: none; }
.types button[aria-pressed=true] { background: light-dark(#e3ebfb, #24314d); }
table { border-collapse: collapse; width: 100%; }
th { text-align: start; font-weight: 600; color: var(--quiet); font-size: 11.5px; }
th, td { padding: 4px 8px 4px 0; border-top: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
thead th { border-top: 0; }
td.number, th.number { text-align: end; font-variant-numeric: tabular-nums; }
td .link { font-family: var(--mono); }
.changes li { padding: 4px 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.changes li:first-child { border-top: 0; }
.narrow input, .narrow select { width: 92px; }
.panel > header.conditions { display: grid; grid-template-columns: 1fr 1fr; }
.conditions > * { width: 100%; min-width: 0; }
details > summary { cursor: pointer; color: var(--quiet); padding: 2px 0; }
.tall { height: 260px; display: flex; flex-direction: column; border: 1px solid var(--line); border-radius: 5px; }

.server { overflow: auto; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(170px, 1fr)); gap: 10px; margin-bottom: 10px; }
.plots figure { background: var(--panel); border: 1px solid var(--line); border-radius: 7px; padding: 8px 10px; display: grid; grid-template-rows: auto 1fr auto; }
.plots figcaption { color: var(--quiet); font-size: 11.5px; }
.plots output { font-size: 17px; font-weight: 600; font-variant-numeric: tabular-nums; }
.plots svg { display: block; width: 100%; height: 36px; overflow: visible; }
.plots polyline { fill: none; stroke: var(--accent); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
.plots .area { fill: var(--accent); opacity: .1; stroke: none; }

@media (max-width: 900px) {
  relay-explorer { height: auto; min-height: 100%; }
  .top { padding: 0 6px; gap: 0 6px; position: sticky; top: 0; z-index: 4; }
  .top nav a { padding: 0 7px; }
  .top h1 { display: none; }
  main > * { height: auto; padding: 6px; }
  .operations, .schema, .data { grid-template: none; grid-template-columns: minmax(0, 1fr); }
  .runs { height: auto; overflow: visible; grid-auto-rows: auto; }
  relay-editor { height: 260px; flex: none; }
  relay-run .split { grid-template: auto auto / minmax(0, 1fr); }
  relay-run .split > relay-rows { height: 96px; }
  relay-tree, .lists > relay-rows { height: 45vh; flex: none; }
  .left { grid-template-rows: auto auto; }
  .left .lists > relay-rows { height: 24vh; }
}
@media (prefers-reduced-motion: no-preference) { .banner, .top nav a { transition: background-color .15s, border-color .15s; } }
</style>
</head>
<body>
<svg id="drawing" width="0" height="0" hidden></svg>
<noscript>The explorer needs JavaScript. Everything it shows is also on the command line: relay --help.</noscript>
<script>
'use strict';
// The explorer: one page, no framework, no build step. Custom elements in the light DOM; whatever comes from a record
// reaches the page through `textContent` only. docs/explorer.md says what it is for and lists the data-test names.

/** An event of the log.
 *  @typedef {{ sequence: number, time: string, kind: string, operation?: string, viewer?: string,
 *    mutationId?: string, records: string[] }} LogEvent */
/** What an event, or the way from one point to another, does to a field.
 *  @typedef {{ record?: string, field?: string, before?: unknown, after?: unknown,
 *    change?: { splice: [number, number, string[]] } }} Change */
/** @typedef {{ id: string, type: string, fields: Record<string, unknown> }} StoredRecord */
/** @typedef {{ query: string, variables?: object, operationName?: string,
 *    extensions?: { relay: Record<string, unknown> } }} Payload */
/** Who hears of an operation's results. One that can resume has `resumed`.
 *  @typedef {{ next: (payload: any, characters: number) => void, failed: (errors: { message: string }[]) => void,
 *    done: () => void, lost?: () => void, resumed?: (complete: boolean, sequence: number) => void }} Sink */

/** How much is kept of everything that could grow. What is beyond a bound goes, oldest first, and the page says so. */
const bounds = Object.freeze({
  tabs: 20, history: 100, keptCharacters: 1_000_000, runs: 8, eventsOfRun: 500, charactersOfRun: 16_000_000,
  rowsOfTree: 100_000, rowsOfTable: 10_000, pagesOfEvents: 40, foundEvents: 5_000, columns: 14, samples: 150,
  suggestions: 60, mistakes: 20, cell: 200, text: 20_000, tallestList: 8_000_000, lines: 10_000, document: 60_000,
});

// MARK: Small tools

/** Makes an element. Children are elements or text, never markup; `on…` are listeners, `test` is `data-test`. */
function h(/** @type {string} */ tag, /** @type {Record<string, any>} */ attributes = {},
  /** @type {any[]} */ ...children) {
  const element = /** @type {any} */ (document.createElement(tag));
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || (value === false && !name.startsWith('aria-'))) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'test') element.dataset.test = value;
    else if (name === 'value') element.value = value;
    else element.setAttribute(name, value === true && !name.startsWith('aria-') ? '' : String(value));
  }
  return fill(element, ...children);
}
/** Puts children in place of what an element has. Those that are nothing are left out. */
function fill(/** @type {any} */ element, /** @type {any[]} */ ...children) {
  element.replaceChildren(...children.flat(3).filter((child) => child !== undefined && child !== null
    && child !== false));
  return element;
}

/** An element of a drawing. Its namespace is read from the page, which so names no address at all. */
function drawn(/** @type {string} */ tag, /** @type {Record<string, any>} */ attributes) {
  const element = document.createElementNS(/** @type {Element} */ (document.getElementById('drawing')).namespaceURI,
    tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

/** Controls, characters without width, those that turn the direction, and halves of characters. */
const disguises = /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}/gu;
/** A text on one line, cut, with everything visible that would hide or turn around what stands beside it. */
function shown(/** @type {unknown} */ text, most = bounds.cell) {
  const whole = String(text);
  const cut = (whole.length > most ? whole.slice(0, most) : whole).replace(disguises, (character) =>
    character === '\n' ? '\\n' : character === '\t' ? '\\t'
      : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return whole.length > most ? `${cut}… (${number(whole.length)} characters)` : cut;
}

/** A value of a record or a result in one line. */
function brief(/** @type {any} */ value, most = bounds.cell) {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return shown(value.length > most ? value : JSON.stringify(value), most);
  if (value === null || typeof value !== 'object') return String(value);
  if (typeof value.ref === 'string') return `→ ${shown(value.ref, 60)}`;
  if (Array.isArray(value.refs)) return counted(value.refs.length, 'link');
  if (Array.isArray(value)) return counted(value.length, 'item');
  return shown(JSON.stringify('value' in value ? value.value : value), most);
}

/** What a change of a list did: `at 2: +a −b`, with the ids that are known. */
const spliced = (/** @type {any[]} */ [start, deleted, ids]) =>
  `at ${start}: ${[deleted ? `${deleted} removed` : '', ids.length ? `+ ${namesOf(ids)}` : ''].filter(Boolean).join(', ')}`;
const namesOf = (/** @type {any[]} */ ids) =>
  ids.slice(0, 20).map((id) => shown(id, 60)).join(' ') + (ids.length > 20 ? ` and ${number(ids.length - 20)} more` : '');

const number = (/** @type {number} */ value) => value.toLocaleString('en-US');
const counted = (/** @type {number} */ count, /** @type {string} */ one, more = `${one}s`) =>
  `${number(count)} ${count === 1 ? one : more}`;
const typeOf = (/** @type {unknown} */ value) => (value === null ? 'null' : typeof value);
const clock = (/** @type {string | number | undefined} */ time) => {
  const date = new Date(time ?? NaN);
  return Number.isNaN(date.getTime()) ? ''
    : `${date.toLocaleDateString('sv')} ${date.toLocaleTimeString('sv')}.${String(date.getMilliseconds()).padStart(3, '0')}`;
};
const isObject = (/** @type {unknown} */ value) => typeof value === 'object' && value !== null;
const messageOf = (/** @type {any} */ error) =>
  shown(error instanceof TypeError && /fetch/i.test(error.message) ? 'The server does not answer.' : error?.message
  ?? error, 2_000);

/** Whether two values of JSON are the same.
 *  @type {(a: any, b: any) => boolean} */
const same = (a, b) => {
  if (a === b) return true;
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
};

/** Runs only the newest of its tasks: one that begins cancels the one before, whose outcome nobody hears of. */
class Newest {
  /** @type {AbortController | null} */ #running = null;
  cancel() { this.#running?.abort(); this.#running = null; }
  /** Whether the task came to its end: false if a newer one took its place. */
  async run(/** @type {(signal: AbortSignal) => Promise<void>} */ task,
    /** @type {(message: string) => void} */ failed, delay = 0) {
    this.cancel();
    const { signal } = this.#running = new AbortController();
    try {
      if (delay) await new Promise((proceed) => setTimeout(proceed, delay));
      if (signal.aborted) return false;
      await task(signal);
    } catch (error) {
      if (!signal.aborted) failed(messageOf(error));
    }
    return !signal.aborted;
  }
}

/** Runs a task once when the calls have paused. */
const later = (/** @type {() => void} */ task, /** @type {number} */ delay) => {
  let timer = 0;
  return () => { clearTimeout(timer); timer = setTimeout(task, delay); };
};

/** What the browser keeps for this page. The token is never among it. */
const kept = {
  read(/** @type {string} */ name) {
    try { return JSON.parse(localStorage.getItem(`relay-explorer.${name}`) ?? 'null'); } catch { return null; }
  },
  write(/** @type {string} */ name, /** @type {unknown} */ value) {
    const text = JSON.stringify(value);
    if (text.length > bounds.keptCharacters)
      return tell(`Your ${name} are too long for the browser's storage, and will not be there the next time.`);
    try {
      localStorage.setItem(`relay-explorer.${name}`, text);
    } catch { tell(`The browser does not let this page keep your ${name}.`); }
  },
};

/** Says something to the user, in the page's one place for it. */
const tell = (/** @type {string} */ text) => document.dispatchEvent(new CustomEvent('tell', { detail: text }));

/** Shows a dialog, and removes it when it is closed. */
function converse(/** @type {string} */ label, /** @type {any[]} */ ...children) {
  const dialog = h('dialog', { 'aria-label': label, test: 'dialog', onclose: () => dialog.remove() },
    h('div', { class: 'row' }, h('h2', { class: 'grow' }, label),
      h('button', { class: 'bare', 'aria-label': 'Close', test: 'dialog-close', onclick: () => dialog.close() }, '✕')),
      ...children);
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** The whole of a text, in a dialog; of a very long one the beginning, and all of it as a file. */
function showText(/** @type {string} */ label, /** @type {string} */ text) {
  const isLong = text.length > bounds.text;
  converse(label, h('textarea',
    { readonly: true, 'aria-label': label, test: 'whole-text', dir: 'auto',
    value: isLong ? text.slice(0, bounds.text) : text }),
    h('div', { class: 'row' },
      h('span', { class: 'quiet grow' },
      isLong ? `The first ${number(bounds.text)} of ${number(text.length)} characters.`
      : `${number(text.length)} characters.`),
      h('button', { onclick: () => save('value.txt', text) }, 'Save as a file')));
}

/** Hands a text to the user as a file. */
function save(/** @type {string} */ name, /** @type {string} */ text) {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  h('a', { href: address, download: name.replace(/[^\w.=-]+/g, '_') }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** The place in the page that the address names: a part and what it shows. */
const place = {
  read() {
    const [part, query = ''] = location.hash.slice(1).split('?', 2);
    return { part, parameters: new URLSearchParams(query) };
  },
  text(/** @type {string} */ part, /** @type {Record<string, any>} */ parameters) {
    const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null
      && value !== '');
    const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
    return `#${part}${given.length ? `?${query}` : ''}`;
  },
  go(/** @type {string} */ part, parameters = {}) { location.hash = place.text(part, parameters); },
};

// MARK: The server

/** The one WebSocket of the page, as graphql-transport-ws says. When it breaks it is opened again, and what was asked
 *  continues: subscriptions after their last event, queries from the start, mutations under their id, so that each is
 *  carried out once. It tells `state`, `head` (the newest event that is known of) and `back`. */
class Connection extends EventTarget {
  /** @type {'connecting' | 'open' | 'waiting' | 'refused'} */ state = 'connecting';
  token = ''; reason = ''; retryAt = 0; head = 0; log = '';
  /** @type {WebSocket | null} */ #socket = null;
  /** @type {Map<string, { id: string, payload: Payload, sink: Sink, cursor: string }>} */ #operations = new Map();
  #next = 1; #tries = 0; #timer = 0; #heard = 0; #wasOpen = false;
  #client = Array.from(crypto.getRandomValues(new Uint8Array(16)),
    (byte) => byte.toString(16).padStart(2, '0')).join('');

  constructor() {
    super();
    addEventListener('online', () => this.state === 'waiting' && this.connect());
    // The server sends something every 15 seconds. A connection that is silent for much longer is dead.
    setInterval(() => this.state === 'open' && Date.now() - this.#heard > 50_000 && this.#lose(null), 5_000);
  }

  /** Connects now, with the token as it is. */
  connect() {
    clearTimeout(this.#timer);
    const old = this.#socket;
    this.#socket = null;
    old?.close(1000);
    if (this.state === 'open') this.#dropped();
    const address = new URL('/graphql', location.origin);
    address.protocol = address.protocol.replace('http', 'ws');
    const socket = this.#socket = new WebSocket(address, 'graphql-transport-ws');
    socket.onopen = () => socket.send(JSON.stringify({ type: 'connection_init',
      payload: this.token ? { token: this.token } : {} }));
    socket.onmessage = (event) => socket === this.#socket && this.#receive(JSON.parse(event.data), event.data.length);
    socket.onclose = (event) => socket === this.#socket && this.#lose(event);
    this.#become('connecting');
  }

  /** Starts an operation; what it returns ends it. */
  start(/** @type {Payload} */ payload, /** @type {Sink} */ sink, isMutation = false) {
    const id = String(this.#next++);
    if (isMutation)
      payload = { ...payload, extensions: { relay: { ...payload.extensions?.relay,
      mutationId: `${this.#client}:${id}` } } };
    const operation = { id, payload, sink, cursor: '' };
    this.#operations.set(id, operation);
    if (this.state === 'open') this.#subscribe(operation);
    return () => { if (this.#operations.delete(id) && this.state === 'open') this.#send({ id, type: 'complete' }); };
  }

  /** The single result of a query. */
  ask(/** @type {Payload} */ payload, /** @type {AbortSignal | undefined} */ signal = undefined) {
    return /** @type {Promise<any>} */ (new Promise((resolve, reject) => {
      /** @type {any} */ let result = null;
      const stop = this.start(payload, { next: (next) => {
        result = next;
      }, failed: (errors) => reject(new Error(errors[0]?.message)), done: () => resolve(result) });
      signal?.addEventListener('abort', () => { stop(); reject(signal.reason); });
    }));
  }

  #send(/** @type {object} */ message) { this.#socket?.send(JSON.stringify(message)); }
  #become(/** @type {Connection['state']} */ state, reason = '') {
    this.state = state;
    this.reason = reason;
    this.dispatchEvent(new Event('state'));
  }
  #subscribe(/** @type {{ id: string, payload: Payload, cursor: string }} */ { id, payload, cursor }) {
    const extensions = cursor ? { relay: { ...payload.extensions?.relay, resume: cursor } } : payload.extensions;
    this.#send({ id, type: 'subscribe', payload: { ...payload, extensions } });
  }
  #sees(/** @type {string} */ cursor) {
    const [store, epoch, sequence] = cursor.split('-');
    const head = parseInt(sequence, 16);
    if (!(head > this.head) && this.log === `${store}-${epoch}`) return;
    this.log = `${store}-${epoch}`;
    this.head = head;
    this.dispatchEvent(new Event('head'));
  }

  #receive(/** @type {any} */ message, /** @type {number} */ characters) {
    this.#heard = Date.now();
    const operation = this.#operations.get(message.id);
    const recovered = message.payload?.extensions?.relay?.recovered;
    const cursor = message.payload?.extensions?.relay?.cursor ?? message.payload?.relay?.cursor;
    switch (message.type) {
    case 'connection_ack': {
      const isBack = this.#wasOpen;
      this.#tries = 0;
      this.#wasOpen = true;
      // First what was waiting: whoever hears of the new state starts more.
      for (const waiting of this.#operations.values()) this.#subscribe(waiting);
      if (isBack) this.dispatchEvent(new Event('back'));
      this.#become('open');
      break;
    }
    case 'ping':
      this.#send({ type: 'pong' });
      if (cursor) for (const each of this.#operations.values()) if (each.cursor) each.cursor = cursor;
      break;
    case 'next':
      if (operation && cursor && operation.sink.resumed) operation.cursor = cursor;
      if (operation && recovered !== undefined) operation.sink.resumed?.(recovered, sequenceOf(message.payload));
      else operation?.sink.next(message.payload, characters);
      break;
    case 'error': {
      const resume = message.payload[0]?.extensions?.code === 'SLOW_CONSUMER'
        && message.payload[0].extensions.relay?.cursor;
      if (operation && resume) { operation.cursor = resume; this.#subscribe(operation); break; }
      this.#operations.delete(message.id);
      operation?.sink.failed(message.payload);
      break;
    }
    case 'complete':
      this.#operations.delete(message.id);
      operation?.sink.done();
    }
    // A result from the past says nothing about the newest event.
    if (cursor && operation?.payload.extensions?.relay.at === undefined) this.#sees(cursor);
  }

  #dropped() { for (const { sink } of this.#operations.values()) sink.lost?.(); }
  #lose(/** @type {CloseEvent | null} */ event) {
    if (this.state === 'open') this.#dropped();
    this.#socket = null;
    const code = event?.code ?? 0;
    if (code >= 4400 && code < 4500 && code !== 4408) {
      return this.#become('refused',
        code === 4403 || code === 4401 ? '' : event?.reason || `The server closed the connection with ${code}.`);
    }
    const wait = Math.min(250 * 2 ** this.#tries++, 5_000) * (0.5 + Math.random() / 2);
    this.retryAt = Date.now() + wait;
    this.#timer = setTimeout(() => this.connect(), wait);
    this.#become('waiting');
  }
}
const server = new Connection();
/** The sequence of the event that a result shows. */
const sequenceOf = (/** @type {any} */ payload) =>
  parseInt(String(payload?.extensions?.relay?.cursor ?? '').split('-')[2] ?? '', 16) || 0;

/** Asks one of the server's own paths, and reads its answer to the end. */
async function answerOf(/** @type {string} */ path, /** @type {Record<string, any>} */ parameters = {},
  /** @type {AbortSignal | undefined} */ signal = undefined, /** @type {object | undefined} */ body = undefined) {
  const address = new URL(path, location.origin);
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined && value !== null && value !== '') address.searchParams.set(name, String(value));
  const headers = { ...(server.token && { authorization: `Bearer ${server.token}` }),
    ...(body && { 'content-type': 'application/json' }) };
  const answer = await fetch(address,
    { method: body ? 'POST' : 'GET', headers, body: body && JSON.stringify(body), cache: 'no-store',
    credentials: 'omit', redirect: 'error', signal });
  const text = await answer.text();
  if (answer.ok) return text;
  let message = '';
  try { message = JSON.parse(text).errors[0].message; } catch { /* Not every refusal has a body. */ }
  throw new Error(message || { 401: 'This needs a token.', 403: 'You may not see this.',
    404: 'This server does not answer this.', 413: 'This is too long.' }[answer.status]
    || `The server answered ${answer.status}.`);
}
/** The lines of an answer that is one JSON object a line. */
const lines = async (/** @type {string} */ path, /** @type {Record<string, any>} */ parameters = {},
  /** @type {AbortSignal | undefined} */ signal = undefined) =>
  (await answerOf(path, parameters, signal)).split('\n').filter(Boolean).map((line) => JSON.parse(line));

// MARK: Lists

/** A list of any length, of which only what can be seen is in the page. One element has the keyboard; `open` (Enter or
 *  a click), `move` and `fold` (Left and Right) say what was done with it, `seen` which rows are in sight. */
class Rows extends HTMLElement {
  height = 22; count = 0; active = 0;
  /** @type {(index: number) => HTMLElement} */ make = () => h('div');
  /** @type {(index: number) => boolean} */ isSelected = () => false;
  #space = h('div', { class: 'space', role: 'none' });
  /** @type {Map<number, HTMLElement>} */ #made = new Map();
  #isHeld = false; #isLate = false; #isAsked = false;
  static #lists = 0;
  #name = `list${++Rows.#lists}`;

  connectedCallback() {
    if (this.#space.isConnected) return;
    this.append(this.#space);
    this.tabIndex = 0;
    this.addEventListener('scroll', () => this.#draw(), { passive: true });
    this.addEventListener('keydown', (event) => this.#key(event));
    this.addEventListener('focus', () => this.#draw());
    // What is pressed must still be there when the pointer is let go, however often the list is drawn meanwhile.
    this.addEventListener('pointerdown', () => {
      this.#isHeld = true;
      addEventListener('pointerup', () => setTimeout(() => this.#release()), { once: true });
    });
    this.addEventListener('click', (event) => {
      const row = /** @type {HTMLElement} */ (event.target).closest('[data-index]');
      if (row && !/** @type {HTMLElement} */ (event.target).closest('button')) {
        this.active = Number(/** @type {HTMLElement} */ (row).dataset.index);
        this.#emit('open');
        this.refresh();
      }
    });
    new ResizeObserver(() => this.#drawSoon()).observe(this);
  }

  set head(/** @type {HTMLElement} */ element) {
    this.querySelector(':scope > .head')?.remove();
    element.classList.add('head');
    this.prepend(element);
  }
  /** Shows `count` rows, each made anew. */
  show(/** @type {number} */ count) {
    this.count = count;
    this.active = Math.max(0, Math.min(this.active, count - 1));
    this.#space.style.height = `${this.#tall}px`;
    if (this.getAttribute('role') === 'grid') this.setAttribute('aria-rowcount', String(count + 1));
    this.refresh();
  }
  refresh() {
    if (this.#isHeld) { this.#isLate = true; return; }
    for (const row of this.#made.values()) row.remove();
    this.#made.clear();
    this.#drawSoon();
  }
  /** Scrolls until a row can be seen. */
  reveal(/** @type {number} */ index, isCentred = false) {
    const room = this.clientHeight - this.#headHeight;
    const at = /** @type {number} */ (this.#offset(index));
    const isAbove = at < 0, isBelow = at + this.height > room;
    if (isAbove || isBelow)
      this.scrollTop = (index * this.height - (isCentred ? room / 2 : isAbove ? 0 : room - this.height)) / this.#scale;
    this.#draw();
  }

  #drawSoon() {
    if (this.#isAsked) return;
    this.#isAsked = true;
    requestAnimationFrame(() => { this.#isAsked = false; this.#draw(); });
  }
  get #tall() { return Math.min(this.count * this.height, bounds.tallestList); }
  get #headHeight() {
    return /** @type {HTMLElement | null} */ (this.querySelector(':scope > .head'))?.offsetHeight ?? 0;
  }
  /** By how much more rows there are than a browser lets an element be tall. */
  get #scale() {
    return Math.max(1, (this.count * this.height - this.clientHeight) / Math.max(1, this.#tall - this.clientHeight));
  }
  /** How far below the list's top a row is.
   *  @returns {number} */
  #offset(/** @type {number} */ index) { return index * this.height - this.scrollTop * this.#scale; }
  #release() { this.#isHeld = false; if (this.#isLate) { this.#isLate = false; this.refresh(); } }
  #emit(/** @type {string} */ name, /** @type {any} */ detail = this.active) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  #draw() {
    const scale = this.#scale;
    const first = Math.max(0, Math.floor(this.scrollTop * scale / this.height) - 4);
    const last = Math.min(this.count, first + Math.ceil(this.clientHeight / this.height) + 9);
    for (const [index, row] of this.#made) if (index < first || index >= last) {
      row.remove();
      this.#made.delete(index);
    }
    const role = this.getAttribute('role');
    for (let index = first; index < last; index += 1) {
      let row = this.#made.get(index);
      if (!row) {
        row = this.make(index);
        row.id = `${this.#name}-${index}`;
        row.dataset.index = String(index);
        row.setAttribute('role', role === 'tree' ? 'treeitem' : role === 'grid' ? 'row' : 'option');
        if (role === 'grid') row.setAttribute('aria-rowindex', String(index + 2));
        else if (role === 'listbox') {
          row.setAttribute('aria-posinset', String(index + 1));
          row.setAttribute('aria-setsize', String(this.count));
        }
        if (role !== 'tree' || this.isSelected(index))
          row.setAttribute('aria-selected', String(this.isSelected(index)));
        this.#made.set(index, row);
        this.#space.append(row);
      }
      row.classList.toggle('active', index === this.active);
      row.style.top = `${scale > 1 ? this.scrollTop + this.#offset(index) : index * this.height}px`;
    }
    const active = this.#made.get(this.active);
    if (active)
      this.setAttribute('aria-activedescendant', active.id); else this.removeAttribute('aria-activedescendant');
    this.#emit('seen', { first, last });
  }

  #key(/** @type {KeyboardEvent} */ event) {
    if (event.target !== this || event.ctrlKey || event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(this.clientHeight / this.height) - 2);
    const steps = /** @type {Record<string, number>} */ ({ ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
      Home: -this.count, End: this.count });
    if (event.key in steps) {
      this.active = Math.max(0, Math.min(this.count - 1, this.active + /** @type {number} */ (steps[event.key])));
      this.reveal(this.active);
      this.#emit('move');
    } else if (event.key === 'Enter' || event.key === ' ') this.#emit('open');
    else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') {
      if (this.getAttribute('role') !== 'tree') return;
      this.#emit('fold', event.key === 'ArrowRight');
    }
    else return;
    event.preventDefault();
  }
}

/** @typedef {{ key: string, path: string, depth: number, value: any, mark: string, was?: any, children: number,
 *    nth: number, of: number }} TreeRow */

/** A value as a tree, with what changed since another value marked. */
class Tree extends HTMLElement {
  #list = /** @type {Rows} */ (h('relay-rows', { role: 'tree', test: 'tree' }));
  /** @type {TreeRow[]} */ #rows = [];
  /** @type {Set<string>} */ #closed = new Set();
  /** @type {any} */ #value; #before = /** @type {any} */ (undefined); #hasBefore = false; #filter = '';

  connectedCallback() {
    if (this.#list.isConnected) return;
    this.append(this.#list);
    this.#list.setAttribute('aria-label', this.getAttribute('label') ?? 'Result');
    this.#list.make = (index) => this.#make(/** @type {TreeRow} */ (this.#rows[index]));
    this.#list.addEventListener('open', () => this.#open());
    this.#list.addEventListener('fold', (event) => this.#fold(/** @type {CustomEvent} */ (event).detail));
  }
  /** Shows a value; with the one before it, what differs is marked. */
  show(/** @type {any} */ value, /** @type {any[]} */ ...before) {
    [this.#value, this.#before, this.#hasBefore] = [value, before[0], before.length > 0];
    this.#list.show(this.#flatten());
  }
  set filter(/** @type {string} */ text) { this.#filter = text.trim().toLowerCase(); this.#list.show(this.#flatten()); }
  /** How many rows differ from the value before. */
  get changes() { return this.#rows.filter((row) => row.mark && row.mark !== 'inside').length; }

  #flatten() {
    /** @type {TreeRow[]} */ const rows = this.#rows = [];
    const filter = this.#filter;
    const idOf = (/** @type {any} */ item) => item?.id ?? item?.node?.id;
    // Whether a row is wanted, by its filter, and whether it or something in it differs from before.
    /** @type {(key: string, path: string, depth: number, value: any, was: any, had: boolean, nth: number, of: number,
     *    isKept: boolean, isGone: boolean) => [boolean, boolean]} */
    const walk = (key, path, depth, value, was, had, nth, of, isKept, isGone) => {
      if (rows.length >= bounds.rowsOfTree) return [false, false];
      const isList = Array.isArray(value);
      const canDescend = this.#hasBefore && had && !isGone && isObject(value) && isObject(was)
        && Array.isArray(was) === isList;
      const keys = isObject(value) ? Object.keys(value) : [];
      const at = rows.length;
      const row = { key, path, depth, value, was, nth, of, children: keys.length,
        mark: isGone ? 'removed' : !this.#hasBefore ? '' : !had ? 'added' : canDescend || value === was ? ''
        : 'changed' };
      rows.push(row);
      const isFound = isKept || filter === '' || key.toLowerCase().includes(filter)
        || (!isObject(value) && String(value).toLowerCase().includes(filter));
      let isWanted = isFound;
      if (this.#closed.has(path) && !filter) {
        if (canDescend && !same(value, was)) row.mark = 'inside';
      } else {
        const descend = (/** @type {string} */ child, /** @type {any} */ item, /** @type {any} */ before,
          /** @type {boolean} */ hadChild, /** @type {number} */ index, isGoneToo = isGone) => {
          const [isChildWanted, differs] =
            walk(child, `${path}/${isGoneToo ? '-' : ''}${child}`, depth + 1, item, before, hadChild, index,
            keys.length, isFound && filter !== '', isGoneToo);
          isWanted ||= isChildWanted;
          if (differs && row.mark === '') row.mark = 'inside';
        };
        // Items of lists are compared with the item of the same id, wherever it was.
        const items = canDescend && isList
          && new Map(was.map((/** @type {any} */ item, /** @type {number} */ index) => [idOf(item) ?? index, item]));
        for (let index = 0; index < keys.length; index += 1) {
          const child = /** @type {string} */ (keys[index]);
          const id = items ? idOf(value[index]) ?? index : child;
          const before = items ? items.get(id) : canDescend ? was[child] : undefined;
          descend(child, value[child], before, items ? items.delete(id) : canDescend && Object.hasOwn(was, child),
            index + 1);
        }
        if (items) for (const [id, item] of items) descend(`− ${shown(id, 60)}`, item, item, true, keys.length, true);
        else if (canDescend)
          for (const child in was)
          if (!Object.hasOwn(value, child)) descend(child, was[child], was[child], true, keys.length, true);
      }
      if (!isWanted) rows.length = at;
      return [isWanted, row.mark !== ''];
    };
    if (isObject(this.#value)) {
      const keys = Object.keys(this.#value);
      const was = isObject(this.#before) ? this.#before : {};
      keys.forEach((key, index) =>
        walk(key, `/${key}`, 0, this.#value[key], was[key], Object.hasOwn(was, key), index + 1, keys.length, false,
        false));
    } else if (this.#value !== undefined) walk('', '/', 0, this.#value, this.#before, this.#hasBefore, 1, 1, false,
      false);
    if (rows.length >= bounds.rowsOfTree)
      rows.push({ key: '', path: '', depth: 0,
      value: `Only ${number(bounds.rowsOfTree)} rows are shown. Close some, or filter.`, mark: '', children: 0, nth: 1,
      of: 1 });
    return rows.length;
  }

  #make(/** @type {TreeRow} */ { key, path, depth, value, mark, was, children, nth, of }) {
    const isOpen = children > 0 && (!this.#closed.has(path) || this.#filter !== '');
    const row = h('div', { 'aria-level': depth + 1, 'aria-posinset': nth, 'aria-setsize': of,
      'aria-expanded': children > 0 ? isOpen : null, class: mark, 'data-mark': mark || null },
      h('span', { class: 'indent' }),
        h('span', { class: 'twist', 'aria-hidden': 'true' }, children > 0 ? (isOpen ? '▾' : '▸') : ''),
      key !== '' && h('bdi', { class: 'key' }, shown(key, 80)), key !== '' && ': ');
    if (isObject(value))
      row.append(h('span', { class: 'quiet' },
      Array.isArray(value) ? `[${number(children)}]` : children ? `{${number(children)}}` : '{}'));
    else if (key === 'id' && typeof value === 'string' && mark !== 'removed')
      row.append(h('button', { class: 'link', tabindex: -1, title: 'Show this record',
      onclick: () => showRecord(value) }, h('bdi', {}, brief(value))));
    else row.append(h('bdi', { class: `value-${typeOf(value)}` }, brief(value)));
    if (mark === 'changed')
      row.append(h('span', { class: 'quiet' }, '   was '), h('bdi', { class: 'quiet' }, brief(was, 60)));
    if (mark === 'added' || mark === 'removed') row.append(h('span', { class: 'seen-by-readers' }, `, ${mark}`));
    row.style.setProperty('--depth', String(depth));
    return row;
  }
  #open() {
    const row = this.#rows[this.#list.active];
    if (!row) return;
    if (row.children) this.#toggle(row);
    else if (row.key === 'id' && typeof row.value === 'string') showRecord(row.value);
    else if (typeof row.value === 'string') showText(shown(row.key || 'Value', 80), row.value);
  }
  #fold(/** @type {boolean} */ isRight) {
    const row = this.#rows[this.#list.active];
    if (!row) return;
    if (row.children > 0 && this.#closed.has(row.path) === isRight) return this.#toggle(row);
    let to = this.#list.active + 1;
    if (!isRight)
      for (to = this.#list.active - 1; to > 0 && /** @type {TreeRow} */ (this.#rows[to]).depth >= row.depth;) to -= 1;
    if (isRight && !row.children) return;
    this.#list.active = Math.max(0, Math.min(to, this.#rows.length - 1));
    this.#list.reveal(this.#list.active);
  }
  #toggle(/** @type {TreeRow} */ row) {
    if (!this.#closed.delete(row.path)) this.#closed.add(row.path);
    this.#list.show(this.#flatten());
  }
}
/** Shows a record's page, now. */
const showRecord = (/** @type {string} */ record) => place.go('data', { record });

// MARK: Operations

const keyword = /^(query|mutation|subscription|fragment|on|true|false|null)$/;
const token = /(#[^\n]*)|("""[\s\S]*?(?:"""|$)|"(?:\\.|[^"\\\n])*"?)|(\$\w+)|(@\w+)|(-?\d[\d.eE+-]*)|(\w+)|([{}()[\]!:=|&]|\.\.\.)/g;
/** The tokens of a document: enough for colours, and for where its operations begin. Its grammar is the server's. */
function* tokensOf(/** @type {string} */ text) {
  for (const match of text.matchAll(token)) {
    const [all, comment, string, variable, directive, figure, name] = match;
    const start = match.index ?? 0;
    const kind = comment ? 'comment' : string ? 'literal' : variable ? 'variable' : directive ? 'keyword' : figure
      ? 'number'
      : name ? (keyword.test(name) ? 'keyword' : /^[A-Z]/.test(name) ? 'typename' : 'name') : 'mark';
    yield { kind, text: all, start, end: start + all.length };
  }
}

/** @typedef {{ kind: string, name: string, field: string, isLive: boolean, start: number, end: number }} Operation */
/** The operations of a document, found by its braces. */
function operationsOf(/** @type {string} */ text) {
  /** @type {Operation[]} */ const found = [];
  let depth = 0, inner = 0;
  let current = /** @type {Operation | null} */ (null);
  for (const { kind, text: word, start, end } of tokensOf(text)) {
    if (kind === 'comment') continue;
    if (word === '(' || word === '[') inner += 1;
    if (word === ')' || word === ']') inner -= 1;
    if (inner > 0) continue;
    if (depth === 0 && !current && (word === '{' || /^(query|mutation|subscription|fragment)$/.test(word))) {
      const begun = current = { kind: word === '{' ? 'query' : word, name: '', field: '', isLive: false, start, end };
      if (begun.kind !== 'fragment') found.push(begun);
    } else if (current && depth === 0 && kind !== 'keyword' && /^\w+$/.test(word) && !current.name) current.name = word;
    else if (current && depth === 0 && word === '@live') current.isLive = true;
    else if (current && depth === 1 && !current.field && /^\w+$/.test(word)) current.field = word;
    if (word === '{') depth += 1;
    if (word === '}') depth -= 1;
    if (current) current.end = end;
    if (word === '}' && depth <= 0) { depth = 0; current = null; }
  }
  return found;
}

/** A textarea with colours under it; what can be written at the caret, and what is wrong, the server says. */
class Editor extends HTMLElement {
  #text = document.createTextNode('');
  #area = /** @type {HTMLTextAreaElement} */ (h('textarea',
    { spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off', 'aria-label': 'GraphQL document',
    'aria-autocomplete': 'list', 'aria-haspopup': 'listbox', test: 'editor' }));
  #list = h('ul', { role: 'listbox', id: 'completions', 'aria-label': 'What can be written here' });
  #told = h('p', { hidden: true });
  #popup = h('div', { class: 'completions', hidden: true, test: 'completions' }, this.#list, this.#told);
  #mistakes = h('ul', { class: 'mistakes', 'aria-label': 'Mistakes in the document', 'aria-live': 'polite',
    test: 'mistakes' });
  #scroller = h('div', { class: 'code' },
    h('div', { class: 'stack' }, h('pre', { 'aria-hidden': 'true' }, this.#text), this.#area), this.#popup);
  /** @type {{ text: string, detail?: string, description?: string, deprecated?: boolean }[]} */ #suggestions = [];
  #replaced = [0, 0]; #chosen = 0; #newest = new Newest();
  /** @type {Map<string, any>} */ #colours = new Map();
  changed = () => {}; run = () => {};

  connectedCallback() {
    if (this.#scroller.isConnected) return;
    this.append(this.#scroller, this.#mistakes);
    this.#area.addEventListener('input', (event) => {
      this.#draw();
      this.changed();
      const typed = /** @type {InputEvent} */ (event).data ?? '';
      this.#ask(/[\w{(@$:. ]$/.test(typed)
        || (!this.#popup.hidden && event instanceof InputEvent && event.inputType.startsWith('delete')));
    });
    this.#area.addEventListener('keydown', (event) => this.#key(event));
    this.#area.addEventListener('blur', () => this.#close());
    this.#area.addEventListener('click', () => this.#close());
    this.#list.addEventListener('pointerdown', (/** @type {PointerEvent} */ event) => {
      event.preventDefault();
      const item = /** @type {HTMLElement} */ (event.target).closest('li');
      if (item) { this.#chosen = [...this.#list.children].indexOf(item); this.#accept(); }
    });
  }
  get value() { return this.#area.value; }
  set value(/** @type {string} */ text) { this.#area.value = text; this.#draw(); this.#close(); this.#ask(false); }
  get caret() { return this.#area.selectionStart; }
  focus() { this.#area.focus(); }
  /** Writes a text in place of what is selected, as if it had been typed: it can be undone. */
  insert(/** @type {string} */ text, start = this.#area.selectionStart, end = this.#area.selectionEnd) {
    this.#area.focus();
    this.#area.setSelectionRange(start, end);
    if (document.execCommand('insertText', false, text)) return;
    this.#area.setRangeText(text, start, end, 'end');
    this.#draw();
    this.changed();
  }
  /** The document as the server would write it. */
  async format() {
    try {
      const { formatted, errors } =
        JSON.parse(await answerOf('/explorer/document', {}, undefined, { text: this.value, format: true }));
      if (formatted === undefined) tell(`This cannot be formatted: ${shown(errors[0]?.message ?? '')}`);
      else if (formatted !== this.value) this.insert(formatted, 0, this.value.length);
    } catch (error) { tell(messageOf(error)); }
  }

  #draw() {
    // A last empty line has no height of its own.
    this.#text.data = `${this.#area.value}\n`;
    if (!('highlights' in CSS)) return;
    for (const kind of ['keyword', 'variable', 'literal', 'number', 'comment', 'typename', 'mistake'])
      this.#colour(kind).clear();
    if (this.#area.value.length > bounds.document) return;
    for (const { kind, start, end } of tokensOf(this.#area.value))
      if (kind !== 'name' && kind !== 'mark') this.#colour(kind).add(this.#range(start, end));
  }
  #colour(/** @type {string} */ kind) {
    let colour = this.#colours.get(kind);
    // @ts-ignore: newer than the checker.
    if (!colour) { colour = new Highlight(); this.#colours.set(kind, colour); CSS.highlights.set(kind, colour); }
    return colour;
  }
  #range(/** @type {number} */ start, /** @type {number} */ end) {
    const range = document.createRange();
    range.setStart(this.#text, Math.min(start, this.#text.length));
    range.setEnd(this.#text, Math.min(end, this.#text.length));
    return range;
  }

  /** Asks what is wrong, and what can be written at the caret. A newer question cancels the one before. */
  #ask(/** @type {boolean} */ wantsSuggestions, delay = 120) {
    const text = this.value;
    if (!wantsSuggestions) this.#close();
    if (text.length > bounds.document || !text.trim() && !wantsSuggestions) {
      this.#newest.cancel();
      this.#mistakes.replaceChildren();
      return;
    }
    const caret = this.caret;
    this.#newest.run(async (signal) => {
      const answer = JSON.parse(await answerOf('/explorer/document', {}, signal,
        wantsSuggestions ? { text, offset: caret } : { text }));
      this.#show(answer.errors ?? [], text);
      if (wantsSuggestions && this.caret === caret && document.activeElement === this.#area)
        this.#suggest(answer.replaced ?? [caret, caret], answer.suggestions ?? []);
    }, () => this.#show([], text), delay);
  }
  #show(/** @type {{ message: string, line?: number, column?: number }[]} */ mistakes, /** @type {string} */ text) {
    const starts = [0];
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    if ('highlights' in CSS) this.#colour('mistake').clear();
    this.#mistakes.replaceChildren(...mistakes.slice(0, bounds.mistakes).map(({ message, line = 1, column = 1 }) => {
      const at = Math.min((starts[line - 1] ?? 0) + column - 1, text.length);
      const length = text.slice(at).match(/^\w+/)?.[0].length ?? 1;
      if ('highlights' in CSS) this.#colour('mistake').add(this.#range(at, at + length));
      return h('li', {}, h('button', { class: 'link bad', onclick: () => {
        this.#area.focus();
        this.#area.setSelectionRange(at, at + length);
      } }, `${line}:${column}  ${shown(message, 400)}`));
    }));
  }

  #suggest(/** @type {[number, number]} */ replaced, /** @type {any[]} */ suggestions) {
    const [start, end] = replaced;
    if (suggestions.length === 0 || (suggestions.length === 1 && suggestions[0].text === this.value.slice(start, end)))
      return this.#close();
    this.#suggestions = suggestions.slice(0, bounds.suggestions);
    this.#replaced = replaced;
    this.#list.replaceChildren(...this.#suggestions.map(({ text, detail, deprecated }, index) =>
      h('li', { role: 'option', id: `completion-${index}`, class: deprecated ? 'old' : null },
        h('span', {}, shown(text)), h('span', { class: 'quiet' }, shown(detail ?? '', 60)))));
    const place = this.#range(start, start).getBoundingClientRect();
    const frame = this.#scroller.getBoundingClientRect();
    this.#popup.hidden = false;
    this.#popup.style.left = `${Math.max(0, Math.min(place.left - frame.left, frame.width - this.#popup.offsetWidth - 4))}px`;
    this.#popup.style.top = `${place.bottom - frame.top + this.#scroller.scrollTop + 2}px`;
    this.#area.setAttribute('aria-controls', 'completions');
    this.#choose(0);
    this.#popup.scrollIntoView({ block: 'nearest' });
  }
  #choose(/** @type {number} */ index) {
    this.#chosen = (index + this.#suggestions.length) % this.#suggestions.length;
    [...this.#list.children].forEach((item, at) => item.setAttribute('aria-selected', String(at === this.#chosen)));
    this.#list.children[this.#chosen]?.scrollIntoView({ block: 'nearest' });
    this.#area.setAttribute('aria-activedescendant', `completion-${this.#chosen}`);
    const description = this.#suggestions[this.#chosen]?.description;
    this.#told.hidden = !description;
    this.#told.textContent = shown(description ?? '', 400);
  }
  #accept() {
    const [start, end] = this.#replaced;
    this.insert(/** @type {any} */ (this.#suggestions[this.#chosen]).text, start, end);
    this.#close();
  }
  #close() {
    this.#popup.hidden = true;
    this.#suggestions = [];
    this.#area.removeAttribute('aria-activedescendant');
    this.#area.removeAttribute('aria-controls');
  }
  #key(/** @type {KeyboardEvent} */ event) {
    const isCommand = event.ctrlKey || event.metaKey;
    if (isCommand && event.key === 'Enter') { this.#close(); this.run(); }
    else if (isCommand && event.key === ' ') this.#ask(true, 0);
    else if (event.altKey && event.shiftKey && event.code === 'KeyF') this.format();
    else if (!this.#popup.hidden && event.key === 'ArrowDown') this.#choose(this.#chosen + 1);
    else if (!this.#popup.hidden && event.key === 'ArrowUp') this.#choose(this.#chosen - 1);
    else if (!this.#popup.hidden && (event.key === 'Enter' || event.key === 'Tab') && !event.shiftKey) this.#accept();
    else if (!this.#popup.hidden && event.key === 'Escape') this.#close();
    else if (event.key === 'Enter' && !isCommand && !event.altKey && !event.isComposing) {
      const before = this.value.slice(0, this.caret);
      const indent = before.slice(before.lastIndexOf('\n') + 1).match(/^ */)?.[0] ?? '';
      this.insert(`\n${indent}${/[{(]\s*$/.test(before) ? '  ' : ''}`);
    } else return;
    event.preventDefault();
  }
}

/** @typedef {{ payload: any, sequence: number, time: number, characters: number, number: number }} Arrival */

/** One operation that runs or ran, and every result it has had. */
class Run extends HTMLElement {
  /** @type {Arrival[]} */ #arrivals = [];
  #characters = 0; #dropped = 0; #count = 0; #chosen = -1; #held = 0; #isPaused = false; #isAsked = false; #cost = 0;
  #state = 'Running'; #began = performance.now();
  /** @type {() => void} */ #end = () => {};
  #says = h('span', { class: 'quiet', role: 'status', test: 'run-state' });
  #note = h('p', { class: 'note warn', role: 'status', test: 'run-note' });
  #about = h('p', { class: 'note quiet', test: 'run-about' });
  #events = /** @type {Rows} */ (h('relay-rows', { role: 'listbox', 'aria-label': 'Events', test: 'run-events' }));
  #tree = /** @type {Tree} */ (h('relay-tree'));
  #pause = h('button', { test: 'run-pause', 'aria-pressed': 'false', onclick: () => this.pause() }, 'Pause');
  #stop = h('button', { test: 'run-stop', onclick: () => this.stop() }, 'Stop');
  isStream = false; isRunning = true; closed = () => {}; ended = () => {};

  /** Begins. */
  begin(/** @type {Payload} */ payload, /** @type {Operation} */ operation) {
    this.isStream = operation.kind === 'subscription' || operation.isLive;
    const title = operation.name || operation.field || operation.kind;
    this.className = 'panel';
    this.dataset.test = 'run';
    this.setAttribute('role', 'region');
    this.setAttribute('aria-label', `Result of ${title}`);
    const filter = h('input',
      { type: 'search', placeholder: 'Filter', 'aria-label': 'Filter the result', test: 'run-filter',
      oninput: later(() => {
      this.#tree.filter = filter.value;
    }, 100) });
    this.append(h('header', {}, h('h2', {}, shown(title, 60)), this.#says, h('span', { class: 'grow' }), filter,
      this.isStream && this.#pause,
        this.isStream && h('button', { test: 'run-clear', onclick: () => this.clear() }, 'Clear'), this.#stop,
      h('button', { class: 'bare', 'aria-label': `Close the result of ${title}`, test: 'run-close', onclick: () => {
        this.stop();
        this.closed();
      } }, '✕')),
    this.#note, this.#about, h('div', { class: `split${this.isStream ? '' : ' single'}` },
      this.isStream && this.#events, this.#tree));
    this.#events.make = (index) => {
      const { sequence, time, number: nth } =
        /** @type {Arrival} */ (this.#arrivals[this.#arrivals.length - 1 - index]);
      return h('div', { title: clock(time) }, sequence ? `event ${number(sequence)}` : `result ${number(nth)}`,
        h('span', { class: 'quiet' }, `  ${clock(time).slice(11)}`));
    };
    this.#events.isSelected = (index) => this.#index === this.#arrivals.length - 1 - index;
    for (const name of ['open', 'move']) this.#events.addEventListener(name, () => {
      const index = this.#arrivals.length - 1 - this.#events.active;
      // On the newest one the display follows.
      this.#chosen = index === this.#arrivals.length - 1 ? -1 : /** @type {Arrival} */ (this.#arrivals[index]).number;
      this.#draw();
    });
    const sink = {
      next: (/** @type {any} */ result, /** @type {number} */ characters) => this.#take(result, characters),
      failed: (/** @type {any[]} */ errors) => { this.#take({ errors }, 0); this.#finish('Failed'); },
      done: () => this.#finish(this.isStream ? 'Ended by the server'
        : this.#arrivals.at(-1)?.payload.errors ? 'Done, with errors' : 'Done'),
      lost: () => {
        this.#note.textContent = this.isStream ? 'The server is gone. This resumes when it is back.'
          : 'The server is gone. This is asked again when it is back.';
        this.#become('Waiting for the server');
      },
      ...(this.isStream && { resumed: (/** @type {boolean} */ isComplete, /** @type {number} */ sequence) => {
        this.#note.textContent = isComplete
          ? `The server was gone and is back. Resumed after event ${number(sequence)}: nothing was missed.`
          : `The server was gone and is back. What happened meanwhile cannot be told; this continues at event ${number(sequence)}.`;
        this.#become('Live');
      } }),
    };
    this.#end = server.start(payload, sink, operation.kind === 'mutation');
    this.#become(server.state === 'open' ? 'Running' : 'Waiting for the server');
  }
  stop() { this.#end(); if (this.isRunning) this.#finish('Stopped'); }
  pause() {
    this.#isPaused = !this.#isPaused;
    this.#held = 0;
    this.#pause.textContent = this.#isPaused ? 'Continue' : 'Pause';
    this.#pause.setAttribute('aria-pressed', String(this.#isPaused));
    if (this.#isPaused) this.#chosen = this.#arrivals.at(-1)?.number ?? -1; else this.#chosen = -1;
    this.#become(this.#state);
    this.#draw();
  }
  clear() {
    this.#arrivals = this.#arrivals.slice(-1);
    this.#characters = this.#arrivals[0]?.characters ?? 0;
    [this.#chosen, this.#dropped] = [-1, 0];
    this.#draw();
  }

  get #index() {
    return this.#chosen < 0 ? this.#arrivals.length - 1
      : Math.max(0, this.#arrivals.findIndex(({ number: nth }) => nth >= this.#chosen));
  }
  #become(/** @type {string} */ state) {
    this.#state = state;
    this.#says.textContent = this.#isPaused && this.isRunning
      ? `Paused${this.#held ? `, ${number(this.#held)} new` : ''}` : state;
    this.#says.className = state === 'Failed' ? 'bad' : state === 'Live' && !this.#isPaused ? 'good' : 'quiet';
  }
  #finish(/** @type {string} */ state) {
    this.isRunning = false;
    this.#stop.hidden = this.#pause.hidden = true;
    this.#note.textContent = '';
    this.#become(state);
    this.ended();
  }
  #take(/** @type {any} */ payload, /** @type {number} */ characters) {
    this.#count += 1;
    this.#arrivals.push({ payload, sequence: sequenceOf(payload), time: Date.now(), characters, number: this.#count });
    this.#characters += characters;
    while (this.#arrivals.length > 1
      && (this.#arrivals.length > bounds.eventsOfRun || this.#characters > bounds.charactersOfRun)) {
      this.#characters -= /** @type {Arrival} */ (this.#arrivals.shift()).characters;
      this.#dropped += 1;
    }
    if (this.#isPaused) this.#held += 1;
    if (this.isStream && this.isRunning) this.#become('Live');
    if (this.#isAsked) return;
    this.#isAsked = true;
    // A large result takes its time, and the page is for its user, too.
    setTimeout(() => requestAnimationFrame(() => {
      this.#isAsked = false;
      this.#draw();
    }), Math.min(4 * this.#cost, 2_000));
  }
  #draw() {
    const began = performance.now();
    this.#drawResult();
    this.#cost = performance.now() - began;
  }
  #drawResult() {
    const index = this.#index;
    const arrival = this.#arrivals[index];
    this.#events.show(this.#arrivals.length);
    if (!arrival) { this.#tree.show(undefined); this.#about.textContent = ''; return; }
    const of = (/** @type {Arrival} */ { payload: { data, errors } }) =>
      (errors ? { errors, ...(data !== undefined && { data }) } : data);
    const before = this.#arrivals[index - 1];
    if (before && this.isStream) this.#tree.show(of(arrival), of(before)); else this.#tree.show(of(arrival));
    this.#about.textContent = [arrival.sequence ? `event ${number(arrival.sequence)}` : '', clock(arrival.time),
      this.isStream ? `${number(this.#count)} in all`
        : `${number(Math.round((arrival.time - performance.timeOrigin) - this.#began))} ms`,
        counted(arrival.characters, 'character'),
      this.#dropped ? `${number(this.#dropped)} older ones were dropped` : '',
        before && this.isStream ? `${number(this.#tree.changes)} changed` : ''].filter(Boolean).join(' · ');
  }
}

/** @typedef {{ id: number, text: string, variables: string }} OperationTab */
const first = `# Ctrl+Enter runs the operation at the caret. Ctrl+Space says what can be written there.
query {
  __typename
}
`;

/** Documents in tabs, and what running them gave. */
class Operations extends HTMLElement {
  /** @type {OperationTab[]} */ tabs = []; current = 0; #serial = 0;
  /** @type {{ text: string, variables: string, time: number }[]} */ #history = [];
  /** @type {Map<number, HTMLElement>} */ #runs = new Map();
  #editor = /** @type {Editor} */ (h('relay-editor'));
  #variables = /** @type {HTMLTextAreaElement} */ (h('textarea',
    { id: 'variables', spellcheck: 'false', test: 'variables', placeholder: '{ }' }));
  #wrong = h('span', { class: 'bad', role: 'status', test: 'variables-error' });
  #strip = h('div', { class: 'tabs grow', role: 'tablist', 'aria-label': 'Documents', test: 'tabs' });
  #choice = /** @type {HTMLSelectElement} */ (h('select',
    { 'aria-label': 'Which operation', test: 'operation', hidden: true }));
  #results = h('div', { test: 'results' });
  #keep = later(() => this.#write(), 300);

  connectedCallback() {
    if (this.#results.isConnected) return;
    this.className = 'operations';
    const isTab = (/** @type {any} */ each) => typeof each?.text === 'string' && typeof each?.variables === 'string';
    const saved = kept.read('tabs');
    const tabs = Array.isArray(saved?.tabs) ? saved.tabs.filter(isTab).slice(0, bounds.tabs) : [];
    this.tabs = (tabs.length ? tabs
      : [{ text: first, variables: '' }]).map((/** @type {any} */ { text, variables }) =>
      ({ id: ++this.#serial, text, variables }));
    this.current = Math.max(0, Math.min(Number(saved?.current) || 0, this.tabs.length - 1));
    const history = kept.read('history');
    this.#history = Array.isArray(history) ? history.filter(isTab).slice(0, bounds.history) : [];
    this.append(
      h('section', { class: 'panel', 'aria-label': 'Document' },
        h('header', {}, this.#strip,
          h('button', { class: 'bare', 'aria-label': 'New tab', test: 'tab-new', onclick: () => {
          this.open('', '');
          this.#editor.focus();
        } }, '+')),
        h('header', {}, h('button',
          { class: 'main', test: 'run-button', title: 'Ctrl+Enter', onclick: () => this.run() }, '▶ Run'),
          this.#choice, h('span', { class: 'grow' }),
          h('button', { test: 'format', title: 'Shift+Alt+F', onclick: () => this.#editor.format() }, 'Format'),
          h('button', { test: 'share', onclick: () => this.#share() }, 'Share'),
            h('button', { test: 'history', onclick: () => this.#showHistory() }, 'History')),
        this.#editor, h('div', { class: 'variables' },
          h('label', { for: 'variables', class: 'quiet' }, 'Variables ', this.#wrong), this.#variables)),
      this.#results);
    this.#editor.changed = () => this.#changed();
    this.#editor.run = () => this.run();
    this.#variables.addEventListener('input', () => this.#changed());
    this.#variables.addEventListener('keydown',
      (event) => { if ((event.ctrlKey || event.metaKey) && event.key === 'Enter') {
      event.preventDefault();
      this.run();
    } });
    this.#strip.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => {
      const step = /** @type {Record<string, number>} */ ({ ArrowRight: 1, ArrowLeft: -1 })[event.key];
      if (!step) { if (event.key === 'Delete') this.#closeTab(this.current); return; }
      this.#turn((this.current + step + this.tabs.length) % this.tabs.length);
      /** @type {HTMLElement | null} */ (this.#strip.querySelector('[aria-selected=true]'))?.focus();
    });
    addEventListener('pagehide', () => this.#write());
    this.#turn(this.current);
  }
  /** The part was asked for, perhaps by a link that brings a document. It is shown, and not run. */
  shown(/** @type {URLSearchParams} */ parameters) {
    const text = parameters.get('text');
    if (text === null) return;
    history.replaceState(null, '', '#operations');
    this.open(text, parameters.get('variables') ?? '');
    tell('This document came with the link. Read it before you run it.');
  }
  /** Opens a document in a tab of its own, unless there is one. */
  open(/** @type {string} */ text, /** @type {string} */ variables) {
    const there = this.tabs.findIndex((tab) => tab.text === text && tab.variables === variables);
    if (there >= 0) return this.#turn(there);
    if (this.tabs.length >= bounds.tabs) return tell(`${bounds.tabs} tabs are open. Close one first.`);
    this.tabs.push({ id: ++this.#serial, text, variables });
    this.#turn(this.tabs.length - 1);
  }
  /** Writes a text at the caret. */
  insert(/** @type {string} */ text) { place.go('operations'); requestAnimationFrame(() => this.#editor.insert(text)); }

  /** The document's variables, or undefined after it has been said what is wrong with them. */
  static variables(/** @type {string} */ text, /** @type {(wrong: string) => void} */ say) {
    try {
      const value = text.trim() ? JSON.parse(text) : {};
      if (isObject(value) && !Array.isArray(value)) { say(''); return value; }
      say('They must be a JSON object.');
    } catch (error) { say(messageOf(error)); }
    return undefined;
  }
  run() {
    const tab = this.#tab;
    const all = operationsOf(tab.text);
    const caret = this.#editor.caret;
    const operation = all.find(({ name }) => name && name === this.#choice.value)
      ?? all.find(({ start, end }) => start <= caret && caret <= end) ?? all[0];
    if (!operation) return tell('There is no operation to run.');
    const variables = Operations.variables(tab.variables, (wrong) => { this.#wrong.textContent = wrong; });
    if (!variables) return;
    this.#history = [{ text: tab.text, variables: tab.variables, time: Date.now() },
      ...this.#history.filter(({ text, variables }) => text !== tab.text || variables !== tab.variables)].slice(0,
      bounds.history);
    kept.write('history', this.#history);
    const place = /** @type {HTMLElement} */ (this.#runs.get(tab.id));
    const runs = /** @type {Run[]} */ ([...place.querySelectorAll('relay-run')]);
    const old = runs.filter((run) => !run.isStream);
    const run = /** @type {Run} */ (h('relay-run'));
    run.begin({ query: tab.text, variables, ...(operation.name && { operationName: operation.name }) }, operation);
    run.closed = () => { run.remove(); if (!place.children.length) place.append(this.#empty()); this.#drawTabs(); };
    run.ended = () => this.#drawTabs();
    place.querySelector('.empty')?.remove();
    if (!run.isStream && old[0]) { old[0].stop(); old[0].replaceWith(run); } else place.prepend(run);
    const surplus = runs.length + 1 > bounds.runs && !old.length
      && (runs.filter((each) => !each.isRunning).at(-1) ?? runs.at(-1));
    if (surplus) {
      surplus.stop();
      surplus.closed();
      tell(`${bounds.runs} results are kept side by side. The oldest was closed.`);
    }
    this.#drawTabs();
  }

  get #tab() { return /** @type {OperationTab} */ (this.tabs[this.current]); }
  #empty() {
    return h('div', { class: 'empty' }, h('p', {}, 'Results appear here.'),
      h('p', {}, 'Subscriptions run side by side, and every result is kept with its event.'));
  }
  #turn(/** @type {number} */ index) {
    this.current = index;
    const tab = this.#tab;
    if (!this.#runs.has(tab.id)) this.#runs.set(tab.id, h('div', { class: 'runs' }, this.#empty()));
    this.#results.replaceChildren(/** @type {HTMLElement} */ (this.#runs.get(tab.id)));
    this.#variables.value = tab.variables;
    this.#editor.value = tab.text;
    this.#drawTabs();
    this.#changed();
  }
  #changed() {
    Object.assign(this.#tab, { text: this.#editor.value, variables: this.#variables.value });
    const named = operationsOf(this.#tab.text.slice(0, bounds.document)).filter(({ name }) => name);
    const chosen = this.#choice.value;
    this.#choice.replaceChildren(h('option', { value: '' }, 'at the caret'),
      ...named.map(({ name }) => h('option', { value: name }, name)));
    this.#choice.value = named.some(({ name }) => name === chosen) ? chosen : '';
    this.#choice.hidden = named.length < 2;
    Operations.variables(this.#tab.variables, (wrong) => { this.#wrong.textContent = wrong; });
    const title = this.#strip.querySelector('[aria-selected=true]');
    if (title) {
      title.textContent = this.#title(this.#tab).text;
      title.setAttribute('aria-label', this.#title(this.#tab).spoken);
    }
    this.#keep();
  }
  #title(/** @type {OperationTab} */ tab) {
    const [operation] = operationsOf(tab.text.slice(0, 5_000));
    const runs = /** @type {Run[]} */ ([...this.#runs.get(tab.id)?.querySelectorAll('relay-run') ?? []]);
    const isRunning = runs.some((run) => run.isStream && run.isRunning);
    const name = operation?.name || operation?.field || 'New';
    return { text: `${isRunning ? '● ' : ''}${name}`, spoken: `${name}${isRunning ? ', running' : ''}` };
  }
  #drawTabs() {
    const titles = this.tabs.map((tab) => this.#title(tab));
    fill(this.#strip, this.tabs.map((_, index) =>
      h('span', { class: index === this.current ? 'current' : null, role: 'none' },
      h('button', { class: 'bare', role: 'tab', 'aria-selected': index === this.current,
        tabindex: index === this.current ? 0 : -1, 'aria-label': titles[index]?.spoken, test: 'tab',
        onclick: () => this.#turn(index) }, titles[index]?.text),
      this.tabs.length > 1 && h('button',
        { class: 'bare quiet', tabindex: index === this.current ? 0 : -1,
        'aria-label': `Close ${titles[index]?.spoken}`, test: 'tab-close', onclick: () => this.#closeTab(index) },
        '✕'))));
  }
  #closeTab(/** @type {number} */ index) {
    const tab = /** @type {OperationTab} */ (this.tabs[index]);
    if (this.tabs.length === 1) return;
    for (const run of /** @type {NodeListOf<Run>} */ (this.#runs.get(tab.id)?.querySelectorAll('relay-run') ?? []))
      run.stop();
    this.#runs.delete(tab.id);
    this.tabs.splice(index, 1);
    this.#turn(Math.min(this.current > index ? this.current - 1 : this.current, this.tabs.length - 1));
  }
  #write() {
    kept.write('tabs', { tabs: this.tabs.map(({ text, variables }) => ({ text, variables })), current: this.current });
  }
  async #share() {
    const link = new URL(place.text('operations', { text: this.#tab.text, variables: this.#tab.variables }),
      location.href).href;
    const field = /** @type {HTMLInputElement} */ (h('input',
      { readonly: true, 'aria-label': 'Link', test: 'share-link', value: link }));
    const note = h('p', { class: 'quiet', role: 'status' },
      'The document and its variables are in the link. No token is, and the server is not told of it.');
    converse('Link to this document', field, note);
    field.select();
    try {
      await navigator.clipboard.writeText(link);
      note.textContent = `Copied. ${note.textContent}`;
    } catch { /* It can be copied by hand. */ }
  }
  #showHistory() {
    const list = h('ul', { class: 'fields', test: 'history-list' }, this.#history.map((entry) => h('li', {},
      h('button', { class: 'link mono', onclick: () => {
        this.open(entry.text, entry.variables);
        dialog.close();
      } }, shown(entry.text.replace(/\s+/g, ' '), 160)), h('span', { class: 'quiet' }, clock(entry.time)))));
    const dialog = converse('History',
      this.#history.length ? list : h('p', { class: 'quiet' }, 'Nothing has been run yet.'),
      h('div', { class: 'row' },
        h('span', { class: 'quiet grow' }, `The last ${bounds.history} are kept in this browser.`),
        h('button', { test: 'history-clear', onclick: () => {
          this.#history = [];
          kept.write('history', []);
          dialog.close();
        } }, 'Forget them')));
  }
}

// MARK: Schema

/** @typedef {{ kind: string, name?: string, ofType?: TypeReference }} TypeReference */
/** @typedef {{ name: string, description?: string, type: TypeReference, args?: Field[], defaultValue?: string,
 *    isDeprecated?: boolean, deprecationReason?: string }} Field */
const reference = 'kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } }';
const input = `name description defaultValue type { ${reference} }`;
const introspection = `query Introspection { __schema { queryType { name } mutationType { name } subscriptionType { name }
  directives { name description locations args { ${input} } }
  types { kind name description specifiedByURL possibleTypes { name } interfaces { name } inputFields { ${input} }
    enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
    fields(includeDeprecated: true) { name description isDeprecated deprecationReason type { ${reference} } args { ${input} } } } } }`;
/** @type {(type: TypeReference) => any} */
const written = (type) =>
  (type.kind === 'NON_NULL' ? `${written(/** @type {any} */ (type.ofType))}!` : type.kind === 'LIST'
  ? `[${written(/** @type {any} */ (type.ofType))}]` : type.name);
/** @type {(type: TypeReference) => any} */
const named = (type) => (type.ofType ? named(type.ofType) : type.name);

/** The types that the server has, where each is used, and a way from a field into a document. */
class Schema extends HTMLElement {
  /** @type {Map<string, any>} */ #types = new Map();
  /** @type {any} */ #schema = null;
  /** @type {{ label: string, type: string, field: string, detail: string }[]} */ #found = [];
  #type = ''; #field = ''; #newest = new Newest();
  #search = /** @type {HTMLInputElement} */ (h('input',
    { type: 'search', placeholder: 'Search types, fields, arguments', 'aria-label': 'Search the schema', class: 'grow',
    test: 'schema-search' }));
  #list = /** @type {Rows} */ (h('relay-rows', { role: 'listbox', 'aria-label': 'Types', test: 'schema-list' }));
  #page = h('section', { class: 'panel', 'aria-label': 'Type', test: 'schema-type' });

  connectedCallback() {
    if (this.#page.isConnected) return;
    this.className = 'schema';
    this.append(h('section', { class: 'panel lists', 'aria-label': 'Types' }, h('header', {}, this.#search),
      this.#list), this.#page);
    this.#search.addEventListener('input', later(() => this.#find(), 80));
    this.#search.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && this.#found[0]) this.#go(this.#found[0]);
    });
    this.#list.make = (index) => {
      const { label, detail } = /** @type {any} */ (this.#found[index]);
      return h('div', {}, label, h('span', { class: 'quiet' }, `  ${detail}`));
    };
    this.#list.isSelected = (index) => this.#found[index]?.type === this.#type
      && this.#found[index]?.field === this.#field;
    this.#list.addEventListener('open',
      () => this.#found[this.#list.active] && this.#go(/** @type {any} */ (this.#found[this.#list.active])));
    // A server that has come back may have another schema.
    server.addEventListener('back', () => { this.#schema = null; });
  }
  shown(/** @type {URLSearchParams} */ parameters) {
    this.#type = parameters.get('type') ?? this.#type;
    this.#field = parameters.get('field') ?? '';
    if (this.#schema) this.#draw(); else this.#load();
  }

  /** The server has let this page in. */
  entered() { if (!this.#schema) this.#load(); }

  #go(/** @type {{ type: string, field: string }} */ { type, field }) { place.go('schema', { type, field }); }
  #load() {
    this.#newest.run(async (signal) => {
      const { data, errors } = await server.ask({ query: introspection, operationName: 'Introspection' }, signal);
      if (!data) throw new Error(errors?.[0]?.message ?? 'The server does not tell its schema.');
      this.#schema = data.__schema;
      this.#types = new Map(data.__schema.types.map((/** @type {any} */ type) => [type.name, type]));
      for (const directive of data.__schema.directives)
        this.#types.set(`@${directive.name}`, { ...directive, kind: 'DIRECTIVE', name: `@${directive.name}` });
      this.#type ||= data.__schema.queryType.name;
      this.#draw();
      this.#find();
    }, (message) => { fill(this.#page, h('p', { class: 'empty bad' }, message)); });
  }
  #find() {
    const search = this.#search.value.trim().toLowerCase();
    const types = [...this.#types.values()].filter(({ name }) => !name.startsWith('__'));
    const kinds = ['OBJECT', 'INTERFACE', 'UNION', 'ENUM', 'INPUT_OBJECT', 'SCALAR', 'DIRECTIVE'];
    const rank = (/** @type {any} */ { name, kind }) =>
      (this.#roots.includes(name) ? this.#roots.indexOf(name) - 3 : kinds.indexOf(kind));
    const entry = (/** @type {any} */ type, field = '', detail = '') =>
      ({ label: field ? `${type.name}.${field}` : type.name, type: type.name, field, detail });
    this.#found = types.filter(({ name }) => name.toLowerCase().includes(search)).sort((a, b) => rank(a) - rank(b)
      || (a.name < b.name ? -1 : 1)).map((type) => entry(type, '', type.kind.toLowerCase().replace('_', ' ')));
    if (search) {
      for (const type of types) for (const field of Schema.#members(type)) {
        if (field.name.toLowerCase().includes(search))
          this.#found.push(entry(type, field.name, field.type ? written(field.type) : ''));
        else {
          const argument = field.args?.find((/** @type {Field} */ each) => each.name.toLowerCase().includes(search));
          if (argument) this.#found.push(entry(type, field.name, `argument ${argument.name}`));
        }
      }
    }
    this.#list.active = 0;
    this.#list.show(this.#found.length);
  }
  get #roots() {
    return [this.#schema?.queryType, this.#schema?.mutationType,
      this.#schema?.subscriptionType].map((type) => type?.name);
  }
  static #members(/** @type {any} */ type) {
    return [...type.fields ?? [], ...type.inputFields ?? [], ...type.enumValues ?? [],
      ...(type.kind === 'DIRECTIVE' ? type.args : [])];
  }

  #link(/** @type {TypeReference} */ type) {
    return h('button', { class: 'link', onclick: () => place.go('schema', { type: named(type) }) }, written(type));
  }
  #argument(/** @type {Field} */ argument) {
    return [`${argument.name}: `, this.#link(argument.type),
      argument.defaultValue ? ` = ${shown(argument.defaultValue, 80)}` : ''];
  }
  #draw() {
    this.#list.refresh();
    const type = this.#types.get(this.#type);
    if (!type) { fill(this.#page, h('p', { class: 'empty' }, `There is no type ${shown(this.#type, 80)}.`)); return; }
    const names = (/** @type {string} */ title, /** @type {string[]} */ list) => list.length > 0
      && h('div', { class: 'row' }, h('h3', {}, title),
      list.map((name) => h('button',
      { class: 'link mono', onclick: () =>
      place.go('schema', { type: name.split('.')[0], field: name.split('.')[1] }) }, name)));
    const prose = (/** @type {any} */ { description, isDeprecated, deprecationReason }) =>
      [description && h('p', {}, shown(description, 4_000).replaceAll('\\n', ' ')),
      isDeprecated && h('p', { class: 'warn' }, `Deprecated: ${shown(deprecationReason ?? '', 400)}`)];
    const uses = [...this.#types.values()].flatMap((other) =>
      [...Schema.#members(other).filter((member) => (member.type && named(member.type) === type.name)
      || member.args?.some((/** @type {Field} */ each) => named(each.type) === type.name)).map((member) =>
      `${other.name}.${member.name}`),
      ...((other.kind === 'UNION' && other.possibleTypes?.some((/** @type {any} */ each) => each.name === type.name))
        ? [other.name] : [])]).filter((name) => !name.startsWith('__'));
    const members = Schema.#members(type);
    fill(this.#page,
      h('header', {}, h('h2', {}, type.name), h('span', { class: 'quiet' }, type.kind.toLowerCase().replace('_', ' '))),
      h('div', { class: 'body', tabindex: 0, role: 'group', 'aria-label': type.name }, ...prose(type),
        names('Implements', (type.interfaces ?? []).map((/** @type {any} */ each) => each.name)),
          names('Possible types', (type.possibleTypes ?? []).map((/** @type {any} */ each) => each.name)),
        type.locations && h('p', { class: 'quiet' }, `On ${type.locations.join(', ')}`),
        members.length > 0 && h('h3', {},
          type.kind === 'ENUM' ? 'Values' : type.kind === 'DIRECTIVE' ? 'Arguments' : 'Fields'),
        members.length > 0 && h('ul', { class: 'fields' },
          members.map((member) => h('li',
          { class: member.name === this.#field ? 'aim' : null, 'data-field': member.name },
          h('div', { class: 'row' }, h('span', { class: 'signature grow' }, h('strong', {}, member.name),
            member.args?.length > 0 && ['(',
              member.args.flatMap((/** @type {Field} */ argument, /** @type {number} */ index) =>
              [index > 0 && ', ', ...this.#argument(argument)]), ')'],
            member.type && [': ', this.#link(member.type)],
              member.defaultValue ? ` = ${shown(member.defaultValue, 80)}` : ''),
          type.fields && !type.name.startsWith('__')
            && h('button', { test: 'insert-field', 'aria-label': `Insert ${member.name} into the document`,
            onclick: () => this.#insert(type, member) }, 'Insert')),
          ...prose(member), member.args?.filter((/** @type {Field} */ argument) =>
            argument.description).map((/** @type {Field} */ argument) =>
            h('p', { class: 'quiet' }, `${argument.name}: ${shown(argument.description, 400)}`))))),
        names('Used by', uses)));
    this.#page.querySelector('.aim')?.scrollIntoView({ block: 'center' });
  }

  /** What to ask of a type when nothing is said: its scalars; where it has none of interest, what it leads to.
   *  @type {(name: string, depth?: number) => string} */
  #selection = (name, depth = 4) => {
    const fields = /** @type {Field[]} */ (this.#types.get(name)?.fields
      ?? []).filter(({ args, isDeprecated }) => !isDeprecated
      && !args?.some(({ type, defaultValue }) => type.kind === 'NON_NULL' && !defaultValue));
    const isPlain = (/** @type {Field} */ { type }) => ['SCALAR', 'ENUM'].includes(this.#types.get(named(type))?.kind);
    const scalars = fields.filter((field) => isPlain(field)
      && !['clientMutationId', 'cursor'].includes(field.name)).slice(0, 8).map((field) => field.name);
    const ways = depth > 0 && (!scalars.length || fields.some((field) => field.name === 'node'))
      ? fields.filter((field) => !isPlain(field) && field.name !== 'pageInfo').slice(0, 2) : [];
    return (this.#types.get(name)?.kind === 'SCALAR' || this.#types.get(name)?.kind === 'ENUM' ? ''
      : ` { ${[...scalars, ...ways.map((field) => field.name + this.#selection(named(field.type), depth - 1))].join(' ') || '__typename'} }`);
  };
  /** A value to begin with.
   *  @returns {any} */
  #sample(/** @type {TypeReference} */ type, depth = 4) {
    const of = type.kind === 'NON_NULL' ? /** @type {TypeReference} */ (type.ofType) : type;
    if (of.kind === 'LIST') return [];
    const definition = this.#types.get(/** @type {string} */ (of.name));
    if (definition?.kind === 'ENUM') return definition.enumValues[0]?.name;
    if (definition?.kind === 'INPUT_OBJECT')
      return depth > 0 ? Object.fromEntries(definition.inputFields.filter((/** @type {Field} */ field) =>
      field.type.kind === 'NON_NULL'
      && !field.defaultValue).map((/** @type {Field} */ field) => [field.name, this.#sample(field.type, depth - 1)]))
      : {};
    return /** @type {any} */ ({ Int: 0, Float: 0, Boolean: false })[of.name ?? ''] ?? '';
  }
  /** A root field becomes an operation of its own, in a new tab; another is written at the caret. */
  #insert(/** @type {any} */ type, /** @type {Field} */ field) {
    const needed = (field.args ?? []).filter((argument) => argument.type.kind === 'NON_NULL' && !argument.defaultValue);
    const call = `${field.name}${needed.length ? `(${needed.map(({ name }) => `${name}: $${name}`).join(', ')})` : ''}${this.#selection(named(field.type))}`;
    const root = this.#roots.indexOf(type.name);
    if (root < 0) return explorer().operations.insert(call);
    const definitions = needed.length
      ? `(${needed.map((argument) => `$${argument.name}: ${written(argument.type)}`).join(', ')})` : '';
    const variables = needed.length
      ? JSON.stringify(Object.fromEntries(needed.map((argument) => [argument.name, this.#sample(argument.type)])),
      null, 2) : '';
    const name = field.name[0]?.toUpperCase() + field.name.slice(1);
    explorer().operations.open(`${['query', 'mutation', 'subscription'][root]} ${name}${definitions} {\n  ${call}\n}\n`, variables);
    place.go('operations');
  }
}

// MARK: Data and time

const pageOfEvents = 100;
/** What is stored, at any event of the log. */
class Data extends HTMLElement {
  /** The event that is shown; null is the newest one, whichever that is. */ at = /** @type {number | null} */ (null);
  type = ''; record = ''; field = ''; #first = 1; #log = '';
  #loading = new Newest(); #more = new Newest(); #eventPages = new Newest(); #side = new Newest();
    #blames = new Newest();
  /** @type {Map<number, LogEvent[]>} */ #pages = new Map(); #wanted = '';
  /** @type {LogEvent[] | null} */ #found = null; #foundAll = true;
  /** @type {StoredRecord[]} */ #rows = []; #columns = /** @type {string[]} */ ([]); #isWhole = false; #isShort = '';
  /** @type {Map<string, Record<string, unknown>>} */ #before = new Map(); #beforeIsWhole = false; #beforeOf = '';
  /** @type {Map<string, number>} */ #counts = new Map();
  /** @type {any} */ #answer = undefined; #isAsking = false; #isFollowing = false; #isBehind = false; #tableAt = 0;
  #remember = later(() => !this.hidden
    && history.replaceState(null, '',
    place.text('data', { type: this.type, record: this.record, field: this.field, at: this.at })), 250);

  #slider = /** @type {HTMLInputElement} */ (h('input',
    { type: 'range', min: 1, max: 1, step: 1, value: 1, 'aria-label': 'Event', test: 'timeline',
    oninput: () => this.seek(Number(this.#slider.value)) }));
  #number = /** @type {HTMLInputElement} */ (h('input',
    { type: 'number', min: 1, 'aria-label': 'Go to event', test: 'timeline-number',
    onchange: () => this.seek(Number(this.#number.value)) }));
  #label = h('span', { role: 'status', class: 'grow', test: 'timeline-label' });
  #problem = h('p', { class: 'bad', role: 'alert', test: 'data-problem' });
  #types = h('div', { class: 'types', test: 'types' });
  #events = /** @type {Rows} */ (h('relay-rows', { role: 'listbox', 'aria-label': 'Events', test: 'events' }));
  #kind = /** @type {HTMLSelectElement} */ (h('select', { 'aria-label': 'Kind of event', test: 'events-kind' },
    ['', 'genesis', 'schema', 'mutation', 'response', 'revocation',
    'update'].map((kind) => h('option', { value: kind }, kind || 'any kind'))));
  #operation = /** @type {HTMLInputElement} */ (h('input',
    { placeholder: 'operation', 'aria-label': 'Operation of the event', test: 'events-operation' }));
  #touched = /** @type {HTMLInputElement} */ (h('input',
    { placeholder: 'record', 'aria-label': 'Record that the event writes', test: 'events-record' }));
  #where = /** @type {HTMLInputElement} */ (h('input',
    { placeholder: 'condition', 'aria-label': 'Condition on the event, as of relay log list --where',
    test: 'events-where' }));
  #middle = h('section', { class: 'panel lists', 'aria-label': 'Records', test: 'records' });
  #table = /** @type {Rows} */ (h('relay-rows', { role: 'grid', 'aria-label': 'Records', test: 'table' }));
  #title = h('h2', { test: 'table-title' }); #shownOf = h('span', { class: 'quiet', test: 'table-count' });
  #order = /** @type {HTMLSelectElement} */ (h('select',
    { 'aria-label': 'Order', test: 'table-order', onchange: () => this.load() },
    h('option', { value: 'newest' }, 'newest first'), h('option', { value: 'oldest' }, 'oldest first')));
  #by = /** @type {HTMLSelectElement} */ (h('select',
    { 'aria-label': 'Field to filter by', test: 'table-field', onchange: () => this.load() },
    h('option', { value: '' }, 'no filter')));
  #equals = /** @type {HTMLInputElement} */ (h('input',
    { placeholder: 'value', 'aria-label': 'Value of the field', test: 'table-value', onchange: () => this.load() }));
  #tableHeader = h('header', {}, this.#title, this.#shownOf, h('span', { class: 'grow' }), this.#order,
    h('span', { class: 'row narrow' }, this.#by, this.#equals));
  #eventBox = h('section', { 'aria-label': 'Event', test: 'event' });
  #blameBox = h('section', { 'aria-label': 'Blame', test: 'blame', hidden: true });
  #whatIfBox = h('section', { 'aria-label': 'What if', test: 'what-if', hidden: true });
  #a = /** @type {HTMLInputElement} */ (h('input',
    { type: 'number', min: 0, 'aria-label': 'From event', test: 'diff-a' }));
  #b = /** @type {HTMLInputElement} */ (h('input',
    { type: 'number', min: 0, 'aria-label': 'To event', test: 'diff-b' }));
  #diffBox = h('div', { test: 'diff' });
  #document = /** @type {HTMLSelectElement} */ (h('select',
    { 'aria-label': 'Document', test: 'past-document', onchange: () => {
    this.#answer = undefined;
    this.load();
  } }));
  #tree = /** @type {Tree} */ (h('relay-tree', { label: 'Result at this event' }));
  #queryNote = h('p', { class: 'quiet', role: 'status' });

  connectedCallback() {
    if (this.#slider.isConnected) return;
    this.className = 'data';
    const button = (/** @type {string} */ text, /** @type {string} */ label, /** @type {string} */ test,
      /** @type {() => void} */ onclick) => h('button', { class: 'bare', title: label, 'aria-label': label, test, onclick }, text);
    this.append(
      h('section', { class: 'panel timeline', 'aria-label': 'Timeline' },
        h('div', { class: 'row' }, button('|◀', 'First event', 'timeline-first', () => this.seek(this.#first)),
          button('◀', 'The event before', 'timeline-previous', () => this.seek(this.#now - 1)), this.#slider,
          button('▶', 'The next event', 'timeline-next', () => this.seek(this.#now + 1)),
            h('button', { test: 'timeline-now', onclick: () => this.seek(Infinity) }, 'Now'), this.#number),
        h('div', { class: 'row' }, this.#label), this.#problem),
      h('div', { class: 'stack-of left' },
        h('section', { class: 'panel', 'aria-label': 'Types' }, this.#types),
        h('section', { class: 'panel lists', 'aria-label': 'Events' },
          h('header', { class: 'conditions' }, this.#kind, this.#operation, this.#touched, this.#where), this.#events)),
      this.#middle,
      h('section', { class: 'panel', 'aria-label': 'Event and history' },
        h('div', { class: 'body' }, this.#eventBox, this.#whatIfBox, this.#blameBox,
        h('details', { test: 'compare' }, h('summary', {}, 'Compare two events'),
          h('div', { class: 'row narrow' }, this.#a, 'to', this.#b,
          h('button', { test: 'diff-run', onclick: () => this.#compare() }, 'Compare')), this.#diffBox),
        h('details', { test: 'past-query', ontoggle: () => {
          this.#offerDocuments();
          this.load();
        } }, h('summary', {}, 'A query at this event'), h('div', { class: 'row' }, this.#document), this.#queryNote,
          h('div', { class: 'tall' }, this.#tree)))));

    this.#events.make = (index) => {
      const event = this.#eventAt(index);
      if (!event) return h('div', { class: 'quiet' }, `${this.#found ? '' : this.#first + index}  …`);
      return h('div', { title: clock(event.time) }, String(event.sequence), '  ',
        h('span', { class: 'quiet' }, event.kind), '  ', shown(event.operation ?? '', 60));
    };
    this.#events.isSelected = (index) =>
      (this.#found ? this.#found[index]?.sequence : this.#first + index) === this.#now;
    for (const name of ['open', 'move']) this.#events.addEventListener(name, () => {
      const sequence = this.#found ? this.#found[this.#events.active]?.sequence : this.#first + this.#events.active;
      if (sequence) this.seek(sequence, false);
    });
    this.#events.addEventListener('seen', (event) => this.#need(/** @type {CustomEvent} */ (event).detail));
    for (const field of [this.#kind, this.#operation, this.#touched, this.#where])
      field.addEventListener('change', () => this.#search());
    this.#table.make = (index) => this.#makeRow(/** @type {StoredRecord} */ (this.#rows[index]));
    this.#table.addEventListener('open', () => {
      const row = this.#rows[this.#table.active];
      if (row) this.#go({ record: row.id });
    });
    this.#table.addEventListener('seen', (event) => {
      if (/** @type {CustomEvent} */ (event).detail.last > this.#rows.length - 30) this.#loadMore();
    });
    server.addEventListener('head', () => this.#grow());
    // How far the log has come is in every result; where nothing else asks, this does.
    setInterval(() => this.#pulse(), 1_000);
  }
  shown(/** @type {URLSearchParams} */ parameters) {
    const at = parameters.get('at');
    this.at = at !== null && /^\d{1,15}$/.test(at) ? Number(at) : null;
    this.type = parameters.get('type') ?? (parameters.has('record') ? '' : this.type);
    this.record = parameters.get('record') ?? '';
    this.field = parameters.get('field') ?? '';
    this.#offerDocuments();
    this.#drawLabel();
    this.entered();
    if (this.field) this.#blame(this.record, this.field); else this.#blameBox.hidden = true;
  }
  entered() {
    this.#fetchStart();
    this.#pulse();
    this.load();
  }
  /** Goes to an event, and shows everything as it was right after it. */
  seek(/** @type {number} */ sequence, reveals = true) {
    if (Number.isNaN(sequence) || !server.head) return;
    const at = Math.max(this.#first, Math.round(Math.min(sequence, server.head)));
    this.at = at >= server.head ? null : at;
    this.#whatIfBox.hidden = true;
    this.#drawLabel();
    this.#events.refresh();
    if (reveals && !this.#found) this.#events.reveal(at - this.#first, true);
    this.#remember();
    this.load(40);
  }
  /** Loads everything that is shown, at the event that is shown. A newer call cancels this one. */
  load(delay = 0) {
    return this.#loading.run(async (signal) => {
      const tasks = [this.#loadTypes(signal).then(() =>
        /** @type {Promise<any>} */ (this.record ? this.#loadRecord(signal) : this.#loadTable(signal))), this.#loadEvent(signal), this.#loadQuery(signal)];
      const outcomes = await Promise.allSettled(tasks);
      if (signal.aborted) return;
      const failure = /** @type {any} */ (outcomes.find(({ status }) => status === 'rejected'));
      this.#problem.textContent = failure ? messageOf(failure.reason) : '';
    }, (message) => { this.#problem.textContent = message; }, delay);
  }

  get #now() { return this.at ?? server.head; }
  async #pulse() {
    if (this.hidden || document.hidden || this.#isAsking || server.state !== 'open') return;
    this.#isAsking = true;
    await server.ask({ query: '{ __typename }' }).catch(() => {});
    this.#isAsking = false;
  }
  #go(/** @type {{ type?: string, record?: string, field?: string }} */ to) {
    place.go('data', { type: this.type, at: this.at, ...to });
  }
  async #fetchStart() {
    const [oldest] = await lines('/log/events', { after: 0, limit: 1 }).catch(() => []);
    if (oldest && oldest.sequence !== this.#first) { this.#first = oldest.sequence; this.#pages.clear(); }
    this.#drawLabel();
  }
  #grow() {
    // Another log, or another history of this one.
    if (this.#log !== server.log) { this.#log = server.log; this.#pages.clear(); if (!this.hidden) this.#fetchStart(); }
    for (const [page, events] of this.#pages) if (events.length < pageOfEvents) this.#pages.delete(page);
    if (this.hidden) return;
    this.#drawLabel();
    this.#follow();
  }
  /** Shows the newest event, one load after the other however fast the log grows. */
  async #follow() {
    this.#isBehind = this.at === null;
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    while (this.#isBehind && !this.hidden) {
      this.#isBehind = false;
      await this.load(60);
    }
    this.#isFollowing = false;
  }
  #drawLabel() {
    const head = server.head || 1;
    this.#slider.min = this.#number.min = String(this.#first);
    this.#slider.max = this.#number.max = String(head);
    this.#slider.value = this.#number.value = String(this.#now);
    const event = this.#found ? undefined : this.#eventAt(this.#now - this.#first);
    const about = event ? `, ${event.kind}${event.operation ? ` ${shown(event.operation, 60)}` : ''}, ${clock(event.time)}` : '';
    this.#label.textContent = `${this.at === null ? 'Now: ' : ''}event ${number(this.#now)} of ${number(head)}${about}`;
    this.#slider.setAttribute('aria-valuetext', this.#label.textContent);
    if (!this.#found && this.#events.count !== head - this.#first + 1) {
      this.#events.show(Math.max(0, head - this.#first + 1));
      if (this.at === null) this.#events.reveal(this.#events.count - 1);
    }
  }

  // Events

  #eventAt(/** @type {number} */ index) {
    if (this.#found) return this.#found[index];
    return this.#pages.get(Math.floor(index / pageOfEvents))?.find(({ sequence }) => sequence === this.#first + index);
  }
  /** Fetches the pages of events that are in sight. */
  #need(/** @type {{ first: number, last: number }} */ { first: from, last }) {
    if (this.#found) { if (last > this.#found.length - 20 && !this.#foundAll) this.#searchMore(); return; }
    /** @type {number[]} */ const missing = [];
    for (let page = Math.floor(from / pageOfEvents); page * pageOfEvents < last; page += 1)
      if (!this.#pages.has(page)) missing.push(page);
    const wanted = missing.join();
    if (!missing.length || wanted === this.#wanted) return;
    this.#wanted = wanted;
    this.#eventPages.run(async (signal) => {
      for (const page of missing) {
        const start = this.#first + page * pageOfEvents;
        const events = await lines('/log/events', { after: start - 1, limit: pageOfEvents }, signal);
        this.#pages.delete(page);
        this.#pages.set(page, events.filter(({ sequence }) => sequence < start + pageOfEvents));
        const oldest = this.#pages.keys().next().value;
        if (this.#pages.size > bounds.pagesOfEvents && oldest !== undefined) this.#pages.delete(oldest);
      }
      this.#wanted = '';
      this.#events.refresh();
      this.#drawLabel();
    }, (message) => { this.#problem.textContent = message; setTimeout(() => { this.#wanted = ''; }, 2_000); }, 40);
  }
  get #conditions() {
    return { kind: this.#kind.value, operation: this.#operation.value.trim(), record: this.#touched.value.trim(),
      where: this.#where.value.trim() };
  }
  #search() {
    this.#wanted = '';
    if (!Object.values(this.#conditions).some(Boolean)) {
      this.#found = null;
      this.#events.count = -1;
      return this.#drawLabel();
    }
    [this.#found, this.#foundAll] = [[], false];
    this.#events.show(0);
    this.#searchMore();
  }
  #searchMore() {
    const found = /** @type {LogEvent[]} */ (this.#found);
    const before = found.at(-1)?.sequence;
    this.#foundAll = true;
    this.#eventPages.run(async (signal) => {
      const events = await lines('/log/events',
        { ...this.#conditions, before: before ?? server.head + 1, limit: pageOfEvents }, signal);
      this.#problem.textContent = '';
      found.push(...events.sort((a, b) => b.sequence - a.sequence));
      this.#foundAll = events.length < pageOfEvents || found.length >= bounds.foundEvents;
      this.#events.show(found.length);
    }, (message) => { this.#problem.textContent = message; });
  }

  // Records

  async #loadTypes(/** @type {AbortSignal} */ signal) {
    const counts = await lines('/explorer/types', { at: this.at }, signal);
    this.#counts = new Map(counts.map(({ type, count }) => [type, count]));
    if (!this.record) this.type ||= counts[0]?.type ?? '';
    fill(this.#types, ...counts.map(({ type, count }) =>
      h('button', { test: 'type', 'data-type': type, 'aria-pressed': type === this.type, onclick: () => {
      this.#by.value = '';
      this.#go({ type, record: '' });
    } }, h('span', {}, shown(type, 60)), h('span', { class: 'quiet' }, number(count)))),
      ...(counts.length ? [] : [h('p', { class: 'quiet' }, 'No records.')]));
  }
  #question(/** @type {string | undefined} */ after) {
    let value = this.#equals.value;
    try { JSON.parse(value); } catch { value = JSON.stringify(value); }
    // Further pages are of the moment that the first one showed.
    return { type: this.type, at: this.at ?? (after && this.#tableAt), order: this.#order.value, after, limit: 100,
      ...(this.#by.value && { field: this.#by.value, value }) };
  }
  async #loadTable(/** @type {AbortSignal} */ signal) {
    this.#more.cancel();
    if (!this.type) return fill(this.#middle, h('p', { class: 'empty' }, 'Nothing is stored at this event.'));
    const question = this.#question(undefined);
    this.#tableAt = server.head;
    const rows = await lines('/explorer/records', question, signal);
    const of = JSON.stringify([this.type, this.#order.value, question.field, question.value]);
    this.#before = of === this.#beforeOf ? new Map(this.#rows.map(({ id, fields }) => [id, fields])) : new Map();
    [this.#beforeIsWhole, this.#beforeOf] = [of === this.#beforeOf && this.#isWhole, of];
    this.#rows = rows;
    this.#isWhole = rows.length < question.limit;
    this.#isShort = '';
    this.#drawTable();
  }
  #loadMore() {
    if (this.#isWhole || this.#isShort || this.record || !this.#rows.length) return;
    this.#isShort = 'loading more';
    this.#more.run(async (signal) => {
      const question = this.#question(this.#rows.at(-1)?.id);
      const rows = await lines('/explorer/records', question, signal);
      this.#rows.push(...rows);
      this.#isWhole = rows.length < question.limit;
      this.#isShort = this.#rows.length >= bounds.rowsOfTable ? 'filter to see others' : '';
      this.#drawTable();
    }, (message) => { this.#problem.textContent = message; this.#isShort = ''; });
  }
  #drawTable() {
    const fields = new Set(this.#rows.slice(0, 1_000).flatMap(({ fields: each }) => Object.keys(each)));
    this.#columns = [...fields].slice(0, bounds.columns);
    const chosen = this.#by.value;
    this.#by.replaceChildren(h('option', { value: '' }, 'no filter'),
      ...[...new Set([...fields, ...(chosen ? [chosen] : [])])].map((field) =>
      h('option', { value: field }, shown(field, 60))));
    this.#by.value = chosen;
    this.#title.textContent = shown(this.type, 60);
    const count = this.#counts.get(this.type) ?? 0;
    this.#shownOf.textContent =
      [chosen ? `${number(this.#rows.length)}${this.#isWhole ? '' : '+'} of ${number(count)} match`
      : counted(count, 'record'), this.#isShort === 'loading more' ? '' : this.#isShort,
      fields.size > bounds.columns ? `${bounds.columns} of ${fields.size} fields` : ''].filter(Boolean).join(' · ');
    if (this.#table.parentNode !== this.#middle) fill(this.#middle, this.#tableHeader, this.#table);
    this.#table.head = this.#cells(h('div', { role: 'row', 'aria-rowindex': 1 },
      ['id', ...this.#columns].map((column) => h('span', { role: 'columnheader' }, shown(column, 60)))));
    this.#table.show(this.#rows.length);
  }
  #cells(/** @type {HTMLElement} */ row) {
    row.classList.add('cells');
    row.style.gridTemplateColumns = `190px repeat(${Math.max(0, this.#columns.length - 1)}, 170px) minmax(170px, 1fr)`;
    return row;
  }
  #makeRow(/** @type {StoredRecord} */ { id, fields }) {
    const before = this.#before.get(id);
    const isNew = !before && this.#beforeIsWhole;
    return this.#cells(h('div',
      { class: isNew ? 'added' : null, 'data-mark': isNew ? 'added' : null, 'data-record': id },
      h('span', { role: 'gridcell' }, shown(id, 60)),
      this.#columns.map((column) => {
        const mark = before && !same(before[column], fields[column]) ? 'changed' : null;
        return h('bdi', { role: 'gridcell', class: `${mark ?? ''} value-${typeOf(fields[column])}`,
          'data-mark': mark }, column in fields ? brief(fields[column], 120) : '');
      })));
  }

  /** A value of a record, with its links as links. */
  #value(/** @type {any} */ value) {
    const link = (/** @type {any} */ id) =>
      (typeof id === 'string' ? h('button',
      { class: 'link mono', test: 'record-link', onclick: () => this.#go({ record: id, type: '' }) },
      h('bdi', {}, shown(id, 80))) : h('span', { class: 'quiet' }, 'null'));
    if (isObject(value) && typeof value.ref === 'string') return link(value.ref);
    if (isObject(value) && Array.isArray(value.refs)) {
      const most = 50;
      return h('div', {}, value.refs.length ? '' : h('span', { class: 'quiet' }, 'no links'),
        value.refs.slice(0, most).map((/** @type {any} */ id) => h('div', {}, link(id))),
        value.refs.length > most && h('span', { class: 'quiet' }, `and ${number(value.refs.length - most)} more`));
    }
    const whole = typeof value === 'string' ? value : JSON.stringify(value, null, 2) ?? 'nothing';
    return h('span', {}, h('bdi', { class: `mono value-${typeOf(value)}` }, brief(value)),
      whole.length > bounds.cell
      && [' ', h('button', { class: 'link', onclick: () => showText('Value', whole) }, 'Show all')]);
  }
  async #loadRecord(/** @type {AbortSignal} */ signal) {
    const id = this.record;
    const [record] = /** @type {StoredRecord[]} */ (await lines('/explorer/records', { id, at: this.at }, signal));
    if (record) this.type = record.type;
    for (const button of this.#types.querySelectorAll('button'))
      button.setAttribute('aria-pressed', String(button.dataset.type === this.type));
    const key = `record ${id}`;
    const before = this.#beforeOf === key ? this.#before.get(id) : undefined;
    [this.#beforeOf, this.#before] = [key, new Map(record ? [[id, record.fields]] : [])];
    const tools = [['Blame all fields', 'blame-all', () => this.#go({ record: id, field: '*' })],
      ['Its events', 'record-events', () => {
      this.#touched.value = id;
      this.#search();
    }], ['Export its history', 'export', () => this.#export(id)]];
    const fields = Object.entries(record?.fields ?? {});
    fill(this.#middle,
      h('header', {}, h('button',
        { class: 'bare', test: 'record-back', onclick: () => this.#go({ record: '', field: '' }) },
        `‹ ${shown(this.type || 'All', 60)}`), h('h2', { test: 'record-title', class: 'mono' }, shown(id, 120)),
        h('span', { class: 'grow' }),
        tools.map(([text, test, onclick]) => h('button', { test, onclick }, text))),
      h('div', { class: 'body', tabindex: 0, role: 'group', 'aria-label': `Record ${shown(id, 80)}` },
        record ? h('table', { test: 'record' },
        h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Field'), h('th', { scope: 'col' }, 'Value'),
        h('th', { scope: 'col' }, h('span', { class: 'seen-by-readers' }, 'Blame')))),
        h('tbody', {}, fields.map(([field, value]) => {
          const mark = before && !same(before[field], value) ? 'changed' : null;
          return h('tr', { class: mark, 'data-mark': mark, 'data-field': field },
            h('th', { scope: 'row' }, h('bdi', {}, shown(field, 80))), h('td', {}, this.#value(value)),
            h('td', {}, h('button', { class: 'bare', test: 'blame-field', 'aria-label': `Blame ${shown(field, 80)}`,
            onclick: () => this.#go({ record: id, field }) }, 'Blame')));
        }))) : h('p', { class: 'empty', test: 'record-missing' },
          `This record does not exist at event ${number(this.#now)}.`)));
  }
  async #export(/** @type {string} */ record) {
    try {
      const text = await answerOf('/log/blame', { record, limit: bounds.lines });
      const count = text.split('\n').filter(Boolean).length;
      save(`${record}.history.ndjson`, text);
      tell(count < bounds.lines ? `${counted(count, 'write')}, the newest first.`
        : `The newest ${number(bounds.lines)} writes; relay blame on the command line has all of them.`);
    } catch (error) { tell(messageOf(error)); }
  }

  // What an event did, and what else the log can be asked

  #seekLink(/** @type {number} */ sequence) {
    return h('button', { class: 'link', test: 'seek', onclick: () => this.seek(sequence) },
      `event ${number(sequence)}`);
  }
  #changes(/** @type {Change[]} */ changes) {
    const most = 200;
    return [h('ul', { class: 'changes', test: 'changes' },
      changes.slice(0, most).map(({ record = '', field = '', before, after, change }) => h('li', {},
      h('button', { class: 'link mono', title: 'Blame this field', test: 'change',
        onclick: () => this.#go({ record, type: '', field: field === '__typename' ? '*' : field }) },
        h('bdi', {}, `${shown(record, 60)}.${shown(field, 60)}`)), h('br'),
      change ? h('bdi', { class: 'mono' }, spliced(change.splice))
        : [h('bdi', { class: 'mono quiet' }, brief(before)), ' → ',
        h('bdi', { class: `mono value-${typeOf(after)}` }, brief(after))]))),
    changes.length > most && h('p', { class: 'quiet' }, `and ${number(changes.length - most)} more `,
      h('button', { class: 'link',
      onclick: () => save('changes.ndjson', changes.map((change) => `${JSON.stringify(change)}\n`).join('')) },
      'All as a file'))];
  }
  async #loadEvent(/** @type {AbortSignal} */ signal) {
    const sequence = this.#now;
    if (!sequence) return;
    const [event] = await lines('/log/event', { sequence }, signal);
    if (!event) return fill(this.#eventBox, h('p', { class: 'quiet' }, `Event ${number(sequence)} cannot be read.`));
    const given = JSON.stringify(event.arguments ?? null, null, 2);
    fill(this.#eventBox,
      h('h2', { test: 'event-title' },
        `Event ${number(sequence)}: ${event.kind}${event.operation ? ` ${shown(event.operation, 80)}` : ''}`),
      h('p', { class: 'quiet' },
        [clock(event.time), event.viewer ? `by ${shown(event.viewer, 80)}` : '',
        event.mutationId ? `id ${shown(event.mutationId, 80)}` : ''].filter(Boolean).join(' · ')),
      event.mutation && h('p', {}, 'Asked for by ', this.#seekLink(event.mutation)),
      event.arguments && h('p', {}, h('span', { class: 'quiet' }, 'Arguments '),
        h('bdi', { class: 'mono' }, shown(JSON.stringify(event.arguments))),
        given.length > bounds.cell
        && [' ', h('button', { class: 'link', onclick: () => showText('Arguments', given) }, 'Show all')]),
      h('h3', {}, 'What it changed'),
        ...(event.changes?.length ? this.#changes(event.changes) : [h('p', { class: 'quiet' }, 'Nothing.')]),
      h('div', { class: 'row' },
        h('button', { test: 'what-if-run', onclick: () => this.#whatIf(sequence) }, 'What if it had never been?')));
  }
  #whatIf(/** @type {number} */ sequence) {
    this.#whatIfBox.hidden = false;
    fill(this.#whatIfBox, h('p', { class: 'quiet' }, 'Folding the log without it…'));
    this.#side.run(async (signal) => {
      const changes = await lines('/explorer/what-if', { skip: sequence, limit: 1_000 }, signal);
      fill(this.#whatIfBox, h('h3', {}, `Now, without event ${number(sequence)}`),
        ...(changes.length ? this.#changes(changes) : [h('p', {}, 'Everything would be as it is.')]),
        h('p', { class: 'quiet' }, 'Every other event writes what it wrote.'));
    }, (message) => fill(this.#whatIfBox, h('p', { class: 'bad' }, message)));
  }
  #compare() {
    if (!this.#a.value) this.#a.value = String(this.at ?? this.#first);
    if (!this.#b.value) this.#b.value = String(server.head);
    this.#side.run(async (signal) => {
      const changes = await lines('/log/diff',
        { a: this.#a.value, b: this.#b.value, record: this.record, limit: 1_000 }, signal);
      fill(this.#diffBox, h('p', { class: 'quiet' },
        `${this.record ? `${shown(this.record, 60)}: ` : ''}${changes.length === 1_000 ? 'the first ' : ''}${counted(changes.length, 'field differs', 'fields differ')}.`), ...this.#changes(changes).filter(Boolean));
    }, (message) => fill(this.#diffBox, h('p', { class: 'bad' }, message)));
  }
  #blame(/** @type {string} */ record, /** @type {string} */ field) {
    this.#blameBox.hidden = false;
    const title = h('h2', { test: 'blame-title' },
      field === '*' ? `Who wrote ${shown(record, 60)}` : `Who wrote ${shown(record, 60)}.${shown(field, 60)}`);
    this.#blames.run(async (signal) => {
      const writes = await lines('/log/blame', { record, field: field === '*' ? undefined : field, limit: 100 },
        signal);
      fill(this.#blameBox, title, h('ul', { class: 'changes', test: 'blame-list' }, writes.map((write) => h('li', {},
        this.#seekLink(write.sequence),
          h('span', { class: 'quiet' },
          ` ${clock(write.time)} ${shown(write.operation ?? '', 60)}${write.viewer ? ` by ${shown(write.viewer, 60)}` : ''}${write.optimistic ? ' (optimistic)' : ''}`), h('br'),
        field === '*' && h('bdi', { class: 'mono quiet' }, `${shown(write.field ?? '', 60)} `),
          h('bdi', { class: 'mono' }, write.change ? spliced(write.change.splice) : brief(write.value))))),
      writes.length === 0 && h('p', { class: 'quiet' }, 'Nobody has.'),
        writes.length === 100 && h('p', { class: 'quiet' }, 'The newest 100 are shown; the export has more.'));
    }, (message) => fill(this.#blameBox, title, h('p', { class: 'bad' }, message)));
  }

  // A query at the event

  #offerDocuments() {
    const chosen = this.#document.value;
    const documents = explorer().operations.tabs.flatMap((tab) =>
      operationsOf(tab.text).filter(({ kind, isLive }) => kind === 'query'
      && !isLive).map((operation) => ({ tab, operation })));
    this.#document.replaceChildren(...documents.map(({ tab, operation }) =>
      h('option', { value: JSON.stringify({ query: tab.text, variables: tab.variables, name: operation.name }) },
      shown(operation.name || operation.field || 'query', 60))));
    if ([.../** @type {any} */ (this.#document.options)].some((option) => option.value === chosen))
      this.#document.value = chosen;
  }
  async #loadQuery(/** @type {AbortSignal} */ signal) {
    if (!(/** @type {HTMLDetailsElement} */ (this.#document.closest('details')).open)) return;
    if (!this.#document.value) { this.#queryNote.textContent = 'No tab of Operations has a query.'; return; }
    const { query, variables: text, name } = JSON.parse(this.#document.value);
    const variables = Operations.variables(text, (wrong) => { this.#queryNote.textContent = wrong; });
    if (!variables) return;
    const answer = await server.ask({ query, variables, ...(name && { operationName: name }),
      ...(this.at !== null && { extensions: { relay: { at: this.at } } }) }, signal);
    const result = answer.errors ? answer : answer.data;
    delete result.extensions;
    if (this.#answer !== undefined) this.#tree.show(result, this.#answer); else this.#tree.show(result);
    this.#answer = result;
    this.#queryNote.textContent = `As of event ${number(this.#now)}${this.at === null ? ', now' : ''}.`;
  }
}

// MARK: The server itself

/** @typedef {{ time: number, values: Map<string, number> }} Sample */
const total = (/** @type {string} */ name) => (/** @type {Sample} */ { values }) => values.get(name);
const rate = (/** @type {string} */ name, factor = 1) =>
  (/** @type {Sample} */ now, /** @type {Sample | undefined} */ before) => {
  const [a, b] = [before?.values.get(name), now.values.get(name)];
  return a === undefined || b === undefined || !before || b < a ? undefined
    : (b - a) / ((now.time - before.time) / 1000) * factor;
};
const ratio = (/** @type {string} */ above, /** @type {string} */ below, factor = 1) =>
  (/** @type {Sample} */ now, /** @type {Sample | undefined} */ before) => {
  const [a, b] = [rate(above)(now, before), rate(below)(now, before)];
  return a === undefined || b === undefined ? undefined : b === 0 ? 0 : a / b * factor;
};
const bytes = (/** @type {number} */ count) =>
  (count < 1024 ? `${Math.round(count)} B` : count < 1024 ** 2 ? `${(count / 1024).toFixed(1)} KiB` : count < 1024 ** 3
  ? `${(count / 1024 ** 2).toFixed(1)} MiB` : `${(count / 1024 ** 3).toFixed(2)} GiB`);
const plain = (/** @type {number} */ count) =>
  (count >= 100 || Number.isInteger(count) ? number(Math.round(count)) : count.toPrecision(2));
/** @type {[string, (now: Sample, before?: Sample) => number | undefined, (value: number) => string][]} */
const plots = [
  ['Mutations a second', rate('relay_commits_total'), plain],
    ['Queries a second', rate('relay_operations_total{kind="query"}'), plain],
  ['Results sent a second', rate('relay_deliveries_total'), plain],
    ['Live executions a second', rate('relay_executions_total'), plain],
  ['Executions saved a second', rate('relay_executions_saved_total'), plain],
    ['Connections', total('relay_connections'), plain],
  ['Subscriptions', total('relay_subscriptions'), plain], ['Live groups', total('relay_subscription_groups'), plain],
  ['Kept for subscriptions', total('relay_subscription_bytes'), bytes],
    ['Queued for clients', total('relay_queue_bytes'), bytes],
  ['Events not yet told', total('relay_lag_events'), plain],
    ['Mutations waiting', total('relay_waiting_mutations'), plain],
  ['The writer is busy', rate('relay_fold_seconds_total', 100), (value) => `${value.toFixed(1)} %`],
    ['Processor', rate('process_cpu_seconds_total', 100), (value) => `${value.toFixed(0)} %`],
  ['A sync to the disk takes', ratio('relay_log_sync_seconds_total', 'relay_log_syncs_total', 1000),
    (value) => `${value.toFixed(2)} ms`], ['Appends that share a sync', total('relay_log_appends_per_sync'), plain],
  ['Waiting for the disk', total('relay_log_waiting_bytes'), bytes],
    ['Written to the log', total('relay_log_bytes_total'), bytes],
  ['Size of the log', total('relay_log_size_bytes'), bytes], ['Segments', total('relay_log_segments'), plain],
    ['Checkpoints', total('relay_log_checkpoints'), plain],
  ['Records', total('relay_records'), plain], ['Newest event', total('relay_sequence'), plain],
    ['Refused', rate('relay_refusals_total'), plain],
];

/** How the server does: plots from its metrics, while they are looked at, and what its live groups cost. */
class Health extends HTMLElement {
  /** @type {Sample[]} */ #samples = []; #newest = new Newest();
  /** @type {Map<string, { figure: HTMLElement, value: HTMLElement, line: Element, area: Element, svg: Element }>} */ #figures = new Map();
  #note = h('p', { role: 'status', test: 'server-note' });
  #plots = h('div', { class: 'plots', test: 'plots' });
  #groups = h('section', { class: 'panel', 'aria-label': 'Live groups' });

  connectedCallback() {
    if (this.#plots.isConnected) return;
    this.className = 'server';
    this.append(this.#note, this.#plots, this.#groups);
    setInterval(() => { if (!this.hidden && !document.hidden) this.#poll(); }, 2_000);
  }
  shown() { this.#poll(); }
  entered() { this.#poll(); }

  #poll() {
    if (server.state === 'waiting') return;
    this.#newest.run(async (signal) => {
      const [metrics, groups] =
        await Promise.allSettled([answerOf('/metrics', {}, signal), lines('/explorer/groups', {}, signal)]);
      if (signal.aborted) return;
      if (groups.status === 'fulfilled') this.#drawGroups(groups.value);
      if (metrics.status === 'rejected') throw metrics.reason;
      /** @type {Map<string, number>} */ const values = new Map();
      for (const [, name, labels, count] of metrics.value.matchAll(/^(\w+)(\{[^}]*\})? (\S+)$/gm))
        values.set(`${name}${labels ?? ''}`, Number(count));
      this.#samples = [...this.#samples.slice(1 - bounds.samples), { time: performance.now(), values }];
      const isFull = values.get('relay_storage_full') === 1;
      this.#note.className = isFull ? 'bad' : 'quiet';
      this.#note.textContent = isFull ? 'The disk is full: mutations are refused.' : '';
      for (const plot of plots) this.#draw(plot);
    }, (message) => { this.#note.className = 'bad'; this.#note.textContent = message; });
  }
  #draw(/** @type {typeof plots[number]} */ [title, measure, unit]) {
    const series = this.#samples.map((sample, index) => measure(sample, this.#samples[index - 1]));
    const known = /** @type {number[]} */ (series.filter((each) => each !== undefined));
    let drawing = this.#figures.get(title);
    if (!drawing) {
      const value = h('output', {});
      const [line, area] = [drawn('polyline', {}), drawn('polyline', { class: 'area' })];
      const svg = drawn('svg', { viewBox: '0 0 100 36', preserveAspectRatio: 'none', role: 'img' });
      svg.append(area, line);
      drawing = { figure: h('figure', { test: 'plot', 'data-plot': title }, h('figcaption', {}, title), value, svg),
        value, line, area, svg };
      this.#figures.set(title, drawing);
      this.#plots.append(drawing.figure);
    }
    // What this server does not measure is not shown.
    drawing.figure.hidden = !known.length;
    if (!known.length) return;
    const most = Math.max(...known, 1e-9), least = Math.min(...known, 0);
    const newest = /** @type {number} */ (known.at(-1));
    const span = Math.max(30, series.length) - 1;
    const points = series.flatMap((each, index) =>
      (each === undefined ? [] : [`${(100 - (series.length - 1 - index) * 100 / span).toFixed(2)},${(35 - (each - least) / (most - least) * 33).toFixed(2)}`]));
    drawing.value.textContent = unit(newest);
    drawing.line.setAttribute('points', points.join(' '));
    drawing.area.setAttribute('points', [`${points[0]?.split(',')[0]},36`, ...points, '100,36'].join(' '));
    drawing.svg.setAttribute('aria-label',
      `${title}: ${unit(newest)} now, at most ${unit(most)} since this page looks`);
  }
  #drawGroups(/** @type {{ operation: string, document: string, subscribers: number, runs: number, milliseconds: number }[]} */ groups) {
    const most = 200;
    const heads = ['Operation', 'Subscribers', 'Runs', 'A run', 'All runs'];
    fill(this.#groups, h('header', {}, h('h2', {}, 'Live groups'),
      h('span', { class: 'quiet' },
      groups.length ? `${number(groups.length)}, those that took longest first`
      : 'none: nobody has a live query or a subscription open')),
      groups.length > 0 && h('div', { class: 'body' },
        h('table', { test: 'groups' },
        h('thead', {}, h('tr', {},
        heads.map((head, index) => h('th', { scope: 'col', class: index ? 'number' : null }, head)))),
        h('tbody', {}, [...groups].sort((a, b) => b.milliseconds - a.milliseconds).slice(0,
          most).map((group) => h('tr', {},
          h('td', {}, h('button', { class: 'link',
            onclick: () => showText(shown(group.operation, 80), group.document) }, shown(group.operation, 80))),
          h('td', { class: 'number' }, number(group.subscribers)), h('td', { class: 'number' }, number(group.runs)),
            h('td', { class: 'number' }, `${group.runs ? (group.milliseconds / group.runs).toFixed(3) : '0'} ms`),
            h('td', { class: 'number' }, `${group.milliseconds.toFixed(1)} ms`)))))));
  }
}

// MARK: The page

/** The page: its parts, the state of the connection, and the token. */
class Explorer extends HTMLElement {
  operations = /** @type {Operations} */ (h('relay-operations', { hidden: true }));
  #parts = /** @type {Record<string, any>} */ ({ operations: this.operations,
    schema: h('relay-schema', { hidden: true }), data: h('relay-data', { hidden: true }),
    server: h('relay-health', { hidden: true }) });
  #links = Object.entries({ operations: 'Operations', schema: 'Schema', data: 'Data',
    server: 'Server' }).map(([part, title]) => h('a', { href: `#${part}`, test: `part-${part}` }, title));
  #state = h('button', { class: 'bare connection', test: 'connection',
    onclick: () => (server.state === 'open' || (server.state === 'refused' && !server.reason) ? this.#askToken()
    : server.connect()) });
  #head = h('span', { class: 'quiet', test: 'head' });
  #told = h('span', { class: 'grow' });
  #banner = h('div', { class: 'banner', role: 'status', hidden: true, test: 'banner' }, this.#told,
    h('button', { class: 'bare', 'aria-label': 'Dismiss', onclick: () => {
    this.#banner.hidden = true;
  } }, '✕'));
  /** @type {HTMLElement | null} */ #asking = null;
  #wasGone = false; #tick = 0;

  connectedCallback() {
    this.append(
      h('header', { class: 'top' }, h('h1', {}, 'Relay'), h('nav', { 'aria-label': 'Parts' }, this.#links),
        h('span', { class: 'grow' }), this.#head, this.#state,
        h('button', { class: 'bare', test: 'token', onclick: () => this.#askToken() }, 'Token'),
        h('button', { class: 'bare', 'aria-label': 'Light or dark', title: 'Light or dark', test: 'theme',
          onclick: () => this.#turnTheme() }, '◐'),
          h('button', { class: 'bare', 'aria-label': 'Keys', title: 'Keys', test: 'keys',
          onclick: () => this.#showKeys() }, '?')),
      this.#banner, h('main', {}, Object.values(this.#parts)));
    document.addEventListener('tell', (event) => this.#tell(/** @type {CustomEvent} */ (event).detail));
    server.addEventListener('state', () => this.#drawState());
    server.addEventListener('head', () => { this.#head.textContent = `event ${number(server.head)}`; });
    server.addEventListener('back', () => {
      if (this.#wasGone) this.#tell('The server is back. What was running continues.');
      this.#wasGone = false;
    });
    addEventListener('hashchange', () => this.#show());
    addEventListener('keydown', (event) => {
      if (event.altKey && !event.ctrlKey && !event.shiftKey && /^Digit[1-4]$/.test(event.code)) {
        event.preventDefault();
        this.#links[Number(event.code.at(-1)) - 1]?.click();
      }
      if (event.key === '?' && !/** @type {HTMLElement} */ (event.target).closest('input, textarea, dialog'))
        this.#showKeys();
    });
    const theme = kept.read('theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
    this.#show();
    server.connect();
  }

  #show() {
    const { part, parameters } = place.read();
    const name = part && Object.hasOwn(this.#parts, part) ? part : 'operations';
    for (const [each, element] of Object.entries(this.#parts)) element.hidden = each !== name;
    this.#links.forEach((link) =>
      (link.getAttribute('href') === `#${name}` ? link.setAttribute('aria-current', 'page')
      : link.removeAttribute('aria-current')));
    document.title = `${name[0]?.toUpperCase()}${name.slice(1)} · Relay explorer`;
    this.#parts[name].shown(parameters);
  }
  #tell(/** @type {string} */ text) { this.#told.textContent = text; this.#banner.hidden = false; }
  #drawState() {
    clearInterval(this.#tick);
    const texts = { connecting: 'Connecting', open: 'Connected', waiting: 'Gone', refused: 'Not let in' };
    this.#state.dataset.state = server.state;
    this.#state.textContent = texts[server.state];
    if (server.state === 'waiting') {
      if (!this.#wasGone) this.#tell('The server is gone. This page tries to reach it again.');
      this.#wasGone = true;
      const draw = () => {
        this.#state.textContent = `Gone; again in ${Math.max(0, Math.ceil((server.retryAt - Date.now()) / 1000))} s`;
      };
      this.#tick = setInterval(draw, 500);
      draw();
    } else if (server.state === 'refused') {
      if (server.reason)
        this.#tell(shown(server.reason, 400));
        else this.#askToken(server.token ? 'The server did not accept this token.' : 'This server asks for a token.');
    } else if (server.state === 'open') {
      this.#asking?.remove();
      for (const part of Object.values(this.#parts)) if (!part.hidden) part.entered?.();
    }
  }
  #askToken(why = 'Whoever shows a token is let in as what it stands for.') {
    this.#asking?.remove();
    const field = /** @type {HTMLInputElement} */ (h('input',
      { type: 'password', autocomplete: 'off', 'aria-label': 'Token', test: 'token-field', value: server.token }));
    const use = () => { server.token = field.value.trim(); dialog.close(); server.connect(); };
    field.addEventListener('keydown', (event) => { if (event.key === 'Enter') use(); });
    const dialog = this.#asking = converse('Token', h('p', { test: 'token-why' }, why), field,
      h('div', { class: 'row' },
        h('span', { class: 'quiet grow' }, 'It stays in the memory of this page, and is gone with it.'),
        h('button', { class: 'main', test: 'token-use', onclick: use }, 'Use it')));
    dialog.addEventListener('close', () => { if (this.#asking === dialog) this.#asking = null; });
    field.focus();
  }
  #turnTheme() {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === 'dark'
      : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = isDark ? 'light' : 'dark';
    kept.write('theme', root.dataset.theme);
  }
  #showKeys() {
    const keys = [['Alt+1 … Alt+4', 'Operations, Schema, Data, Server'],
      ['Ctrl+Enter', 'Run the operation at the caret'], ['Ctrl+Space', 'What can be written here'],
      ['Shift+Alt+F', 'Format the document'], ['Up, Down, Page Up, Page Down, Home, End', 'Move in a list or a tree'],
      ['Left, Right', 'Close and open a branch; on the timeline, the event before and the next'],
        ['Enter', 'Open what is chosen: a record, an event, a whole value'], ['Delete', 'On a tab: close it'],
        ['Escape', 'Close suggestions or a dialog'], ['?', 'This list']];
    converse('Keys', h('div', { class: 'keys' },
      keys.flatMap(([key, text]) => [h('kbd', {}, key), h('span', {}, text)])));
  }
}
const explorer = () => /** @type {Explorer} */ (document.querySelector('relay-explorer'));

for (const [name, element] of Object.entries({ rows: Rows, tree: Tree, editor: Editor, run: Run,
  operations: Operations, schema: Schema, data: Data, health: Health,
  explorer: Explorer })) customElements.define(`relay-${name}`, element);
document.body.append(h('relay-explorer'));
</script>
</body>
</html>

"""#
}
