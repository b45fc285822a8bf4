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
:root { color-scheme: light dark; --page: light-dark(#f7f7f5, #15171a); --panel: light-dark(#ffffff, #1c1f23);
  --raised: light-dark(#f1f1ee, #262a2f); --line: light-dark(#dfdfda, #33383f); --text: light-dark(#1d2126, #e4e7eb);
  --quiet: light-dark(#5c636d, #9ba3ae); --accent: light-dark(#1f55c4, #8ab0ff);
  --onaccent: light-dark(#ffffff, #10131a); --good: light-dark(#1b7a3d, #6fce8f);
  --warn: light-dark(#8a5a00, #e5b454); --bad: light-dark(#b3261e, #ff8f85); --added: light-dark(#def3e2, #16351f);
  --changed: light-dark(#fff0c7, #3d3211); --removed: light-dark(#fbe1df, #44201e);
  --keyword: light-dark(#8a2fa8, #d9a0f0); --name: light-dark(#1f55c4, #8ab0ff);
  --string: light-dark(#166b34, #7fd39b); --number: light-dark(#9a4a00, #f0ac6b);
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "Roboto Mono", "Noto Sans Mono", "DejaVu Sans Mono", monospace; }
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
  background: var(--panel); border: 1px solid var(--line); border-radius: 5px; padding: 2px 9px; min-height: 26px;
  max-width: 100%;
}
button { cursor: pointer; white-space: nowrap; }
button:hover:not(:disabled) { background: var(--raised); }
button:disabled { opacity: .5; cursor: default; }
button.main { background: var(--accent); border-color: var(--accent); color: var(--onaccent); font-weight: 600; }
button.main:hover:not(:disabled) { background: var(--accent); filter: brightness(1.08); }
button.bare { border-color: transparent; background: none; padding: 2px 6px; }
button.bare:hover:not(:disabled) { background: var(--raised); }
button.link { border: 0; background: none; padding: 0; min-height: 0; color: var(--accent); font: inherit;
  text-align: start; white-space: inherit; overflow-wrap: anywhere; }
button.link.bad { color: var(--bad); }
button.link:hover:not(:disabled) { background: none; text-decoration: underline; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
relay-rows:focus-visible, textarea:focus-visible { outline-offset: -2px; }
code, .mono, textarea, relay-rows { font-family: var(--mono); font-size: 12.5px; }
bdi { unicode-bidi: isolate; }
.quiet { color: var(--quiet); } .good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); }
.row { display: flex; align-items: center; gap: 6px; flex-wrap: wrap; min-width: 0; }
.grow { flex: 1 1 auto; min-width: 0; }
.panel { background: var(--panel); border: 1px solid var(--line); border-radius: 7px; min-width: 0; min-height: 0;
  display: flex; flex-direction: column; overflow: hidden; }
.panel > header { padding: 5px 8px; border-bottom: 1px solid var(--line); display: flex; gap: 6px;
  align-items: center; flex-wrap: wrap; min-height: 37px; }
.body { padding: 8px; overflow: auto; min-height: 0; flex: 1 1 auto; display: flex; flex-direction: column; gap: 8px;
  overflow-wrap: anywhere; }
.seen-by-readers { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }
.value-string { color: var(--string); } .value-number,
.value-boolean { color: var(--number); } .value-null { color: var(--quiet); }
.added { background: var(--added); } .changed { background: var(--changed); }
.removed { background: var(--removed); text-decoration: line-through; }

relay-explorer { display: flex; flex-direction: column; height: 100%; }
.top { display: flex; align-items: center; gap: 4px 14px; flex-wrap: wrap; padding: 0 12px; background: var(--panel);
  border-bottom: 1px solid var(--line); min-height: 42px; }
.top h1 { font-size: 14px; font-weight: 700; }
.top nav { display: flex; align-self: stretch; gap: 2px; }
.top nav a { display: flex; align-items: center; padding: 0 10px; min-height: 40px; color: var(--quiet);
  text-decoration: none; border-bottom: 2px solid transparent; }
.top nav a:hover { color: var(--text); }
.top nav a[aria-current] { color: var(--text); font-weight: 600; border-color: var(--accent); }
.connection::before { content: ""; display: inline-block; width: 8px; height: 8px; border-radius: 50%;
  margin-inline-end: 6px; background: var(--warn); }
.connection[data-state=open]::before { background: var(--good); }
.connection[data-state=waiting]::before, .connection[data-state=refused]::before { background: var(--bad); }
.banner { display: flex; gap: 8px; align-items: center; padding: 4px 12px; background: var(--changed);
  border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
main { flex: 1 1 auto; min-height: 0; }
main > * { display: block; height: 100%; padding: 10px; }
dialog { background: var(--panel); color: var(--text); border: 1px solid var(--line); border-radius: 9px;
  padding: 14px; width: min(680px, 94vw); max-height: 86vh; box-shadow: 0 12px 48px #0005; }
dialog[open] { display: flex; flex-direction: column; gap: 10px; }
dialog::backdrop { background: #0006; }
dialog textarea {
  width: 100%; height: 46vh; border: 1px solid var(--line); border-radius: 5px; background: var(--page); padding: 8px;
}
dialog input { width: 100%; }
kbd { font: 11.5px var(--mono); border: 1px solid var(--line); border-bottom-width: 2px; border-radius: 4px;
  padding: 0 5px; }
.keys { display: grid; grid-template-columns: auto 1fr; gap: 5px 14px; }

relay-rows { display: block; position: relative; overflow: auto; flex: 1 1 auto; min-height: 0; contain: strict;
  line-height: 22px; }
relay-rows > .head { position: sticky; top: 0; z-index: 1; background: var(--raised);
  border-bottom: 1px solid var(--line); min-width: 100%; width: max-content; font-weight: 600; padding: 0 8px; }
relay-rows > .space { position: relative; min-width: 100%; }
relay-rows > .space > * { position: absolute; left: 0; min-width: 100%; width: max-content; height: 22px;
  padding: 0 8px; white-space: pre; cursor: default; }
relay-rows > .space > *:hover { background-color: var(--raised); }
relay-rows:focus > .space > .active { box-shadow: inset 2px 0 var(--accent); background-color: var(--raised); }
relay-rows > .space > [aria-selected=true] { background-color: light-dark(#e3ebfb, #24314d); }
relay-rows .cells { display: grid; gap: 10px; }
.cells > * { overflow: hidden; text-overflow: ellipsis; white-space: pre; min-width: 0; }
relay-lines { display: grid; gap: 6px; }
relay-event, relay-comparison, relay-past-query { display: contents; }
main > :focus { outline: none; }
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
.code pre, .code textarea { grid-area: 1 / 1; margin: 0; border: 0; padding: 10px; font: 12.5px/1.55 var(--mono);
  white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 2; min-height: 100%; overflow: hidden; resize: none;
  width: 100%; border-radius: 0; }
.code textarea { background: none; color: transparent; caret-color: var(--text); }
.code textarea::selection { background: light-dark(#b9d0fb, #35518c); color: transparent; }
.code pre { pointer-events: none; }
::highlight(keyword) { color: var(--keyword); } ::highlight(variable) { color: var(--number); }
::highlight(literal) { color: var(--string); }
::highlight(number) { color: var(--number); } ::highlight(comment) { color: var(--quiet); }
::highlight(typename) { color: var(--name); }
::highlight(mistake) { text-decoration: underline wavy var(--bad); }
.completions { position: absolute; z-index: 5; background: var(--panel); border: 1px solid var(--line);
  border-radius: 6px; box-shadow: 0 6px 24px #0003; width: min(380px, 90%); font: 12.5px/1.5 var(--mono); }
.completions ul { max-height: 190px; overflow: auto; }
.completions li { display: flex; gap: 10px; padding: 1px 8px; justify-content: space-between; cursor: default; }
.completions li[aria-selected=true] { background: var(--accent); color: var(--onaccent); }
.completions li[aria-selected=true] .quiet { color: inherit; }
.completions li.old { text-decoration: line-through; }
.completions p { border-top: 1px solid var(--line); padding: 4px 8px; font-family: var(--sans); color: var(--quiet);
  max-height: 60px; overflow: auto; }
.mistakes { max-height: 96px; overflow: auto; border-top: 1px solid var(--line); padding: 4px 10px; }
.mistakes:empty { display: none; }
.variables { border-top: 1px solid var(--line); display: flex; flex-direction: column; }
.variables label { padding: 4px 10px 0; }
.variables textarea { border: 0; background: none; padding: 4px 10px; height: 88px; resize: vertical; }
.runs { display: grid; gap: 10px; grid-template-columns: repeat(auto-fit, minmax(min(320px, 100%), 1fr));
  grid-auto-rows: minmax(200px, 1fr); height: 100%; overflow: auto; min-height: 0; }
.empty { display: grid; place-content: center; text-align: center; gap: 6px; color: var(--quiet); height: 100%;
  padding: 20px; }
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
.types button { display: flex; justify-content: space-between; width: 100%; border-color: transparent;
  background: none; }
.types button[aria-pressed=true] { background: light-dark(#e3ebfb, #24314d); }
table { border-collapse: collapse; width: 100%; }
th { text-align: start; font-weight: 600; color: var(--quiet); font-size: 11.5px; }
th, td { padding: 4px 8px 4px 0; border-top: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
thead th { border-top: 0; overflow-wrap: normal; }
tbody th { min-width: 84px; }
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
.plots figure { background: var(--panel); border: 1px solid var(--line); border-radius: 7px; padding: 8px 10px;
  display: grid; grid-template-rows: auto 1fr auto; }
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
@media (prefers-reduced-motion: no-preference) {
  .banner, .top nav a { transition: background-color .15s, border-color .15s; }
}
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
 *  @typedef {{ sequence: number, time: string, kind: string, operation?: string }} LogEvent */
/** @typedef {{ id: string, type: string, fields: Record<string, any> }} StoredRecord */
/** @typedef {{ query: string, variables?: object, operationName?: string, extensions?: { relay: any } }} Payload */
/** What a document can carry out, as the server's parser says; of one that it cannot read, nothing is known.
 *  @typedef {{ kind?: string, name?: string, field?: string, live?: boolean, line?: number, column?: number }}
 *    Operation */
/** Who hears of an operation's results. One that can resume has `resumed`.
 *  @typedef {{ next: (payload: any, characters: number) => void, failed: (errors: { message: string }[]) => void,
 *    done: () => void, lost?: () => void, state?: () => void,
 *    resumed?: (complete: boolean, sequence: number) => void }} Sink */

/** How much is kept of everything that could grow. What is beyond a bound goes, oldest first, and the page says so. */
const bounds = Object.freeze({
  tabs: 20, history: 100, keptCharacters: 1_000_000, runs: 8, eventsOfRun: 500, charactersOfRun: 16_000_000,
  rowsOfTree: 100_000, rowsOfTable: 10_000, pagesOfEvents: 40, foundEvents: 5_000, columns: 14, samples: 150,
  lines: 5_000, linesInserted: 50, charactersOfRuns: 64_000_000, suggestions: 60, mistakes: 20, cell: 200,
  text: 20_000, tallestList: 8_000_000, file: 100_000_000, document: 60_000,
  depth: 500,
});

// MARK: Making and drawing elements

/** Makes an element. Children are elements or text, never markup; `on…` are listeners, `test` is `data-test`.
 *  @returns {any} */
function h(/** @type {string} */ tag, /** @type {Record<string, any>} */ attributes = {}, ...children) {
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
function fill(/** @type {any} */ element, ...children) {
  element.replaceChildren(...children.flat(4).filter((child) => ![undefined, null, false].includes(child)));
  return element;
}
/** An element of a drawing. Its namespace is read from the page, which so names no address at all. */
function drawn(/** @type {string} */ tag, /** @type {Record<string, any>} */ attributes) {
  const element = document.createElementNS(document.getElementById('drawing')?.namespaceURI ?? null, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

/** What the pointer is pressed on. It must still be there when the pointer is let go, or there is no click. */
const pressed = { on: /** @type {any} */ (null), waiting: new Map() };
addEventListener('pointerdown', (event) => { pressed.on = event.target; }, true);
const release = () => {
  const tasks = [...pressed.waiting.values()];
  pressed.on = null;
  pressed.waiting.clear();
  for (const task of tasks) task();
};
// The click comes right after the pointer is let go.
for (const name of ['pointerup', 'pointercancel', 'dragend', 'contextmenu', 'blur'])
  addEventListener(name, () => setTimeout(release));
/** Does something with an element as soon as nothing in it is pressed; of several such things the last, or the first
 *  where that does all that is needed. */
function whenFree(/** @type {HTMLElement} */ element, /** @type {() => void} */ task, isLess = false) {
  if (!pressed.on || !element.contains(pressed.on)) task();
  else if (!isLess || !pressed.waiting.has(element)) pressed.waiting.set(element, task);
}

/** The data that elements show. */
const drawings = new WeakMap();
/** Shows in an element what `make` makes of the data, if that is not what it shows. What has the focus keeps it, and
 *  what is scrolled stays; where what had the focus is gone, what is chosen has it, or the heading. */
function draw(/** @type {HTMLElement} */ element, /** @type {any} */ data, /** @type {() => any} */ make) {
  if (drawings.has(element) && same(drawings.get(element), data)) return;
  drawings.set(element, data);
  whenFree(element, () => {
    const nameOf = (each) => JSON.stringify([each.tagName, each.dataset, each.getAttribute('aria-label'),
      each.closest('[data-field]')?.dataset.field]);
    const alike = (each) =>
      [...element.querySelectorAll(each.tagName)].filter((other) => nameOf(other) === nameOf(each));
    const focused = element.contains(document.activeElement) ? document.activeElement : null;
    const nth = focused ? alike(focused).indexOf(focused) : 0;
    const scrolled = element.querySelector('.body')?.scrollTop;
    fill(element, make());
    const body = element.querySelector('.body');
    if (body && scrolled) body.scrollTop = scrolled;
    if (!focused || element.contains(document.activeElement)) return;
    const heir = alike(focused)[nth] ?? element.querySelector('[aria-selected=true], h2') ?? element;
    if (heir.tabIndex < 0) heir.tabIndex = -1;
    heir.focus({ preventScroll: true });
  });
}
const failure = (/** @type {string} */ message) => h('p', { class: 'bad', role: 'alert' }, message);
/** Does what shows something in a place. What fails is said there, unless nobody waits for it any more. */
async function attempt(/** @type {HTMLElement} */ place, /** @type {AbortSignal} */ signal,
  /** @type {() => Promise<any>} */ task) {
  try { await task(); } catch (error) {
    if (!signal.aborted) draw(place, { failed: messageOf(error) }, () => failure(messageOf(error)));
  }
}
const iconButton = (/** @type {string} */ text, /** @type {string} */ label, /** @type {string} */ test, onclick) =>
  h('button', { class: 'bare', title: label, 'aria-label': label, test, onclick }, text);

// MARK: Small tools

/** Controls, characters without width, those that turn the direction, halves of characters; and joiners, unless they
 *  join something, as in many scripts and emoji. */
const disguises = new RegExp(['[\\p{Cc}\\u00ad\\u034f\\u061c\\u115f\\u1160\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e]',
  '[\\u2060-\\u206f\\u3164\\ufeff\\ufff9-\\ufffb]', '\\p{Cs}', '(?<!\\P{ASCII})[\\u200c\\u200d]',
  '[\\u200c\\u200d](?!\\P{ASCII})'].join('|'), 'gu');
/** A text on one line, cut, with everything visible that would hide or turn around what stands beside it. */
function shown(/** @type {unknown} */ text, most = bounds.cell) {
  const whole = textOf(text);
  const cut = (whole.length > most ? whole.slice(0, most) : whole).replace(disguises, (character) =>
    character === '\n' ? '\\n' : character === '\t' ? '\\t'
      : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return whole.length > most ? `${cut}… (${number(whole.length)} characters)` : cut;
}
/** A value of a record or a result in one line. */
function brief(/** @type {any} */ value, most = bounds.cell) {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return shown(value.length > most ? value : JSON.stringify(value), most);
  if (!isObject(value)) return textOf(value);
  if (typeof value.ref === 'string') return `→ ${shown(value.ref, 60)}`;
  if (Array.isArray(value.refs)) return counted(value.refs.length, 'link');
  if (Array.isArray(value)) return counted(value.length, 'item');
  return shown(JSON.stringify('value' in value ? value.value : value), most);
}
/** What a change of a list did: `at 2: 1 removed, + a`, with the ids that are known. */
function spliced(/** @type {[number, number, string[]]} */ [start, deleted, ids]) {
  const names = ids.slice(0, 20).map((id) => shown(id, 60)).join(' ');
  const added = ids.length > 20 ? `${names} and ${number(ids.length - 20)} more` : names;
  return `at ${start}: ${[deleted && `${deleted} removed`, added && `+ ${added}`].filter(Boolean).join(', ')}`;
}
const joined = (...parts) => parts.filter(Boolean).join(' · ');
const number = (/** @type {number} */ value) => value.toLocaleString('en-US');
const counted = (/** @type {number} */ count, /** @type {string} */ one, more = `${one}s`) =>
  `${number(count)} ${count === 1 ? one : more}`;
const typeOf = (/** @type {unknown} */ value) =>
  (value === null ? 'null' : exactly(value) === undefined ? typeof value : 'number');
const clock = (/** @type {string | number | undefined} */ time) => {
  const date = new Date(time ?? NaN);
  if (Number.isNaN(date.getTime())) return '';
  const milliseconds = String(date.getMilliseconds()).padStart(3, '0');
  return `${date.toLocaleDateString('sv')} ${date.toLocaleTimeString('sv')}.${milliseconds}`;
};
const isObject = (/** @type {any} */ value) => typeof value === 'object' && value !== null && !exactly(value);
const messageOf = (/** @type {any} */ error) => shown(error instanceof TypeError && /fetch/i.test(error.message)
  ? 'The server is not answering.' : error?.message ?? error, 2_000);
/** Numbers that JavaScript would write in another way, such as 1.0 or 9007199254740993, keep their text.
 *  @type {(value: any) => string | undefined} */
const exactly = (value) => (/** @type {any} */ (JSON).isRawJSON?.(value) ? value.rawJSON : undefined);
/** What is no object, as a text. */
const textOf = (/** @type {any} */ value) => exactly(value) ?? String(value);
/** Where a number may be of that kind. Mostly there is none, and then reading is much faster. */
const unusual = /(?:^|[:,[])\s*-?(?:[\d.]{16}|[\d.]+[eE]|\d+\.\d*0(?:[,\]}\s]|$)|(?<=-)0(?:[,\]}\s]|$))/;
/** What a text in JSON says, to the last digit.
 *  @returns {any} */
function parsed(/** @type {string} */ text) {
  // @ts-ignore: newer than the checker.
  if (!JSON.rawJSON || !unusual.test(text)) return JSON.parse(text);
  // @ts-ignore
  return JSON.parse(text, (_, value, { source }) =>
    // @ts-ignore
    (typeof value === 'number' && String(value) !== source ? JSON.rawJSON(source) : value));
}
/** Whether two values of JSON are the same.
 *  @type {(a: any, b: any) => boolean} */
const same = (a, b) => {
  if (a === b) return true;
  if (!isObject(a) || !isObject(b)) return exactly(a) !== undefined && exactly(a) === exactly(b);
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
};
/** An id that nobody else has. */
const freshID = () => Array.from(crypto.getRandomValues(new Uint8Array(16)),
  (byte) => byte.toString(16).padStart(2, '0')).join('');
/** Runs a task once when the calls have paused. */
const later = (/** @type {() => void} */ task, /** @type {number} */ delay) => {
  let timer = 0;
  return () => { clearTimeout(timer); timer = setTimeout(task, delay); };
};
/** Runs a task once in the next frame, however often it was called. */
const inFrame = (/** @type {() => void} */ task) => {
  let isAsked = false;
  return () => {
    if (!isAsked) requestAnimationFrame(() => { isAsked = false; task(); });
    isAsked = true;
  };
};
/** Runs a task, unless it is running. */
const unlessBusy = (/** @type {() => Promise<void>} */ task) => {
  let isBusy = false;
  return async () => {
    if (isBusy) return;
    isBusy = true;
    try { await task(); } finally { isBusy = false; }
  };
};
/** Runs a task; when it was called while it ran, once more. */
const onceMore = (/** @type {() => Promise<void>} */ task) => {
  let isWanted = false;
  const run = unlessBusy(async () => { while (isWanted) { isWanted = false; await task(); } });
  return () => { isWanted = true; return run(); };
};

/** What a place of the page waits for: only the newest task counts. One that begins cancels the one before, whose
 *  outcome nobody hears of. */
class Newest {
  /** @type {AbortController | null} */ #running = null;
  cancel() { this.#running?.abort(); this.#running = null; }
  async run(/** @type {(signal: AbortSignal) => Promise<any>} */ task, /** @type {(message: string) => void} */ failed,
    delay = 0) {
    this.cancel();
    const { signal } = this.#running = new AbortController();
    try {
      if (delay) await new Promise((proceed) => setTimeout(proceed, delay));
      if (!signal.aborted) await task(signal);
    } catch (error) {
      if (!signal.aborted) failed(messageOf(error));
    }
  }
}

/** What the browser keeps for this page. The token is never among it. */
const kept = {
  read(/** @type {string} */ name) {
    try { return JSON.parse(localStorage.getItem(`relay-explorer.${name}`) ?? 'null'); } catch { return null; }
  },
  /** A list that was kept, without what does not look like a document. */
  documents(/** @type {any} */ list, /** @type {number} */ most) {
    const isDocument = (each) => typeof each?.text === 'string' && typeof each?.variables === 'string';
    return Array.isArray(list) ? list.filter(isDocument).slice(0, most) : [];
  },
  write(/** @type {string} */ name, /** @type {unknown} */ value) {
    const text = JSON.stringify(value);
    if (text.length > bounds.keptCharacters)
      return tell(`The ${name} of this page: too large for the browser's storage, so not kept for the next time.`);
    try {
      localStorage.setItem(`relay-explorer.${name}`, text);
    } catch { tell(`The browser does not let this page keep its ${name}.`); }
  },
};

/** Says something to the user, in the page's one place for it. */
const tell = (/** @type {string} */ text) => document.dispatchEvent(new CustomEvent('tell', { detail: text }));

/** Shows a dialog, and removes it when it is closed. */
function converse(/** @type {string} */ label, ...children) {
  const dialog = h('dialog', { 'aria-label': label, test: 'dialog', onclose: () => dialog.remove() },
    h('div', { class: 'row' }, h('h2', { class: 'grow' }, label),
      h('button', { class: 'bare', 'aria-label': 'Close', test: 'dialog-close', onclick: () => dialog.close() },
        '✕')),
    ...children);
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
/** The whole of a text, in a dialog; of a very long one the beginning, and all of it as a file. */
function showText(/** @type {string} */ label, /** @type {string} */ text) {
  converse(label,
    h('textarea', { readonly: true, 'aria-label': label, test: 'whole-text', dir: 'auto',
      value: text.slice(0, bounds.text) }),
    h('div', { class: 'row' },
      h('span', { class: 'quiet grow' },
        `${text.length > bounds.text ? `The first ${number(bounds.text)} of ` : ''}${number(text.length)} characters.`),
      h('button', { onclick: () => save('value.txt', text) }, 'Save as a file')));
}
/** What is too long for its place has a button that shows all of it. */
const showAll = (/** @type {string} */ label, /** @type {string} */ whole) => whole.length > bounds.cell
  && [' ', h('button', { class: 'link', onclick: () => showText(label, whole) }, 'Show all')];
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
    const query = new URLSearchParams(Object.entries(parameters)
      .filter(([, value]) => value !== undefined && value !== null && value !== '')
      .map(([name, value]) => [name, String(value)])).toString();
    return query ? `#${part}?${query}` : `#${part}`;
  },
  go(/** @type {string} */ part, parameters = {}) { location.hash = place.text(part, parameters); },
};
/** Shows a record's page, now. */
const showRecord = (/** @type {string} */ record) => place.go('data', { record });

// MARK: The server

/** The one WebSocket of the page, as graphql-transport-ws says. When it breaks it is opened again, and what was asked
 *  continues: subscriptions after their last event, queries from the start, mutations under their id, so that each is
 *  carried out once. It tells `state`, `head` (the newest event that is known of), `back`, and `other` when somebody
 *  else's token is used. */
class Connection extends EventTarget {
  /** @type {'connecting' | 'open' | 'waiting' | 'refused'} */ state = 'connecting';
  token = ''; reason = ''; retryAt = 0; first = 1; head = 0; log = '';
  /** @type {WebSocket | null} */ #socket = null;
  /** @type {Map<string, { id: string, payload: Payload, sink: Sink, isSafe: boolean, cursor: string, sent: number,
   *    size: number, isRead: boolean, wasLost: boolean, isHeard: boolean, closings: number }>} */
  #operations = new Map();
  #client = freshID(); #next = 1; #tries = 0; #timer = 0; #heard = 0; #opened = 0; #cursor = '';

  constructor() {
    super();
    addEventListener('online', () => this.state === 'waiting' && this.connect());
    // The server sends something every 15 seconds. A connection that is silent for much longer is dead.
    setInterval(() => {
      const most = { open: 50_000, connecting: 20_000 }[/** @type {string} */ (this.state)];
      if (most && Date.now() - this.#heard > most) this.#lose(0, '');
    }, 5_000);
  }

  /** Connects now, with the token as it is. */
  connect() {
    clearTimeout(this.#timer);
    this.#leave();
    this.#heard = Date.now();
    const address = new URL('/graphql', location.origin);
    address.protocol = address.protocol.replace('http', 'ws');
    const socket = this.#socket = new WebSocket(address, 'graphql-transport-ws');
    socket.onopen = () => socket.send(JSON.stringify({ type: 'connection_init',
      payload: this.token ? { token: this.token } : {} }));
    socket.onmessage = ({ data }) => socket === this.#socket && this.#receive(parsed(data), data.length);
    socket.onclose = ({ code, reason }) => socket === this.#socket && this.#lose(code, reason);
    this.#become('connecting');
  }
  /** Connects with a token. What was asked with another one ends: it would go on in somebody else's name. */
  enter(/** @type {string} */ token) {
    const isOther = this.#opened > 0 && token !== this.token;
    this.token = token;
    if (isOther) {
      this.#leave();
      [this.#opened, this.first, this.head, this.log] = [0, 1, 0, ''];
      for (const { id, isSafe } of [...this.#operations.values()]) {
        const outcome = isSafe ? 'This has ended.' : 'It is unknown whether this was carried out.';
        this.#fail(id, `Another token is in use. ${outcome}`);
      }
      this.dispatchEvent(new Event('other'));
    }
    this.connect();
  }

  /** Starts an operation; what it returns ends it. One that is not surely safe to repeat gets an id. */
  start(/** @type {Payload} */ payload, /** @type {Sink} */ sink, isSafe = true) {
    const id = String(this.#next++);
    const named = isSafe ? payload : withRelay(payload, { mutationId: `${this.#client}:${id}` });
    const operation = { id, payload: named, sink, isSafe, cursor: '', sent: 0, size: 0, isRead: false, wasLost: false,
      isHeard: false, closings: 0 };
    this.#operations.set(id, operation);
    if (this.state === 'open') this.#subscribe(operation);
    return () => { if (this.#operations.delete(id) && this.state === 'open') this.#send({ id, type: 'complete' }); };
  }
  /** The single result of a query.
   *  @returns {Promise<any>} */
  ask(/** @type {Payload} */ payload, /** @type {AbortSignal | undefined} */ signal = undefined) {
    return new Promise((resolve, reject) => {
      let result = null;
      const stop = this.start(payload, { next: (next) => { result = next; }, done: () => resolve(result),
        failed: (errors) => reject(new Error(errors[0]?.message)) });
      signal?.addEventListener('abort', () => { stop(); reject(signal.reason); });
    });
  }
  /** Learns how far the log has come. */
  pulse() { return this.ask({ query: '{ __typename }' }).catch(() => {}); }
  /** Takes from an answer's head which events there are. */
  hear(/** @type {Headers} */ headers) {
    const [first, last] = ['relay-first-event', 'relay-last-event'].map((name) => Number(headers.get(name)));
    const isNew = (first && first !== this.first) || last > this.head;
    if (first) this.first = first;
    this.head = Math.max(this.head, last || 0);
    if (isNew) this.dispatchEvent(new Event('head'));
  }

  #send(/** @type {object} */ message) {
    const text = JSON.stringify(message);
    this.#socket?.send(text);
    return text.length;
  }
  #become(/** @type {Connection['state']} */ state, reason = '') {
    this.state = state;
    this.reason = reason;
    for (const each of this.#operations.values()) each.sink.state?.();
    this.dispatchEvent(new Event('state'));
  }
  #subscribe(/** @type {any} */ operation) {
    const { id, payload, cursor } = operation;
    const whole = cursor ? withRelay(payload, { resume: cursor }) : payload;
    operation.size = this.#send({ id, type: 'subscribe', payload: whole });
    // What the server has read once it can read again.
    operation.sent = operation.isRead ? 0 : operation.size;
    operation.isHeard = false;
    // Before its first event a stream resumes where the connection was when it began.
    if (operation.sink.resumed) operation.cursor ||= this.#cursor;
  }
  #fail(/** @type {string} */ id, /** @type {string} */ message) {
    const operation = this.#operations.get(id);
    this.#operations.delete(id);
    operation?.sink.failed([{ message }]);
  }
  #sees(/** @type {string} */ cursor) {
    if (!this.#cursor) for (const each of this.#operations.values()) if (each.sink.resumed) each.cursor ||= cursor;
    this.#cursor = cursor;
    const [store, epoch, sequence] = cursor.split('-');
    const head = parseInt(sequence ?? '', 16);
    if (!(head > this.head) && this.log === `${store}-${epoch}`) return;
    [this.log, this.head] = [`${store}-${epoch}`, head];
    this.dispatchEvent(new Event('head'));
  }

  #receive(/** @type {any} */ message, /** @type {number} */ characters) {
    this.#heard = Date.now();
    const operation = this.#operations.get(message.id);
    const relay = message.payload?.extensions?.relay;
    const cursor = relay?.cursor ?? message.payload?.relay?.cursor;
    switch (message.type) {
    case 'connection_ack': {
      const isBack = this.#opened > 0;
      const waiting = [...this.#operations.values()];
      this.#opened = Date.now();
      this.state = 'open';
      // First how far the log is, so that every stream knows where it began; then what was waiting.
      this.pulse();
      for (const each of waiting) {
        if (each.wasLost && each.sink.resumed && !each.cursor) each.sink.resumed(false, 0);
        this.#subscribe(each);
      }
      if (isBack) this.dispatchEvent(new Event('back'));
      this.#become('open');
      break;
    }
    case 'ping':
      this.#send({ type: 'pong' });
      // Everything up to there has been delivered.
      if (cursor) for (const each of this.#operations.values()) if (each.sink.resumed) each.cursor = cursor;
      break;
    case 'next':
      if (!operation) break;
      [operation.sent, operation.isRead, operation.isHeard, operation.closings] = [0, true, true, 0];
      if (cursor && operation.sink.resumed) operation.cursor = cursor;
      if (relay?.recovered !== undefined) operation.sink.resumed?.(relay.recovered, sequenceOf(message.payload));
      else operation.sink.next(message.payload, characters);
      break;
    case 'error': {
      const { code, relay: where } = message.payload[0]?.extensions ?? {};
      const resume = ['SLOW_CONSUMER', 'OVERLOADED'].includes(code) && (where?.cursor ?? operation?.cursor);
      if (operation?.sink.resumed && resume) {
        operation.cursor = resume;
        const socket = this.#socket;
        // A connection that is opened meanwhile has done so by itself.
        setTimeout(() => this.#operations.has(message.id) && socket === this.#socket && this.#subscribe(operation),
          code === 'OVERLOADED' ? 1_000 + Math.random() * 4_000 : 0);
        break;
      }
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

  /** Leaves the connection there is, whatever state that is in. */
  #leave() {
    const socket = this.#socket;
    this.#socket = null;
    this.#cursor = '';
    socket?.close();
    if (this.state !== 'open') return;
    this.state = 'connecting';
    for (const each of this.#operations.values()) { each.wasLost = true; each.sink.lost?.(); }
  }
  /** Too much waited for this page, or for too long. What is without an answer again is not asked for ever; a stream
   *  may have nothing to tell. */
  #closedByAnAnswer(/** @type {string} */ reason) {
    for (const each of [...this.#operations.values()]) {
      if (each.isHeard || ++each.closings < (each.sink.resumed ? 3 : 2)) continue;
      const outcome = each.isSafe ? '' : ' It is unknown whether this was carried out.';
      this.#fail(each.id, `The server closed the connection again and again before it had answered this: ${
        reason || 'too slow'}. The answer may be too large for it.${outcome}`);
    }
  }
  #lose(/** @type {number} */ code, /** @type {string} */ reason) {
    const wasOpen = this.state === 'open';
    this.#leave();
    if (code === 1013 && wasOpen) this.#closedByAnAnswer(reason);
    // Too large for the server, or nothing that it can read. Sent again, it would end the next connection as well.
    const asked = [...this.#operations.values()];
    const culprit = code === 1009 ? asked.sort((a, b) => b.size - a.size)[0]
      : code === 4400 ? asked.findLast(({ sent }) => sent > 0) : undefined;
    if (culprit) this.#fail(culprit.id, code === 1009
      ? 'This is larger than what the server takes (--max-message-bytes).' : reason || 'The server cannot read this.');
    else if (code >= 4400 && code < 4500 && code !== 4408) {
      const isToken = code === 4403 || code === 4401;
      return this.#become('refused', isToken ? '' : reason || `The server closed the connection with ${code}.`);
    }
    if (wasOpen && Date.now() - this.#opened > 10_000) this.#tries = 0;
    const wait = Math.min(250 * 2 ** this.#tries++, 5_000) * (0.5 + Math.random() / 2);
    this.retryAt = Date.now() + wait;
    this.#timer = setTimeout(() => this.connect(), wait);
    this.#become('waiting');
  }
}
const server = new Connection();
/** A request with more that only this server understands.
 *  @returns {Payload} */
const withRelay = (/** @type {Payload} */ payload, /** @type {object} */ more) =>
  ({ ...payload, extensions: { relay: { ...payload.extensions?.relay, ...more } } });
/** The sequence of the event that a result shows. */
const sequenceOf = (/** @type {any} */ payload) =>
  parseInt(String(payload?.extensions?.relay?.cursor ?? '').split('-')[2] ?? '', 16) || 0;

/** Asks one of the server's own paths, and reads its answer to the end. `next` is the address of its next page, if
 *  there may be one. */
async function answerOf(/** @type {string} */ path, /** @type {Record<string, any>} */ parameters = {},
  /** @type {AbortSignal | undefined} */ signal = undefined, /** @type {object | undefined} */ body = undefined) {
  const address = new URL(path, location.origin);
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined && value !== null && value !== '') address.searchParams.set(name, String(value));
  const headers = { ...(server.token && { authorization: `Bearer ${server.token}` }),
    ...(body && { 'content-type': 'application/json' }) };
  const { token } = server;
  const answer = await fetch(address, { method: body ? 'POST' : 'GET', headers, body: body && JSON.stringify(body),
    cache: 'no-store', credentials: 'same-origin', redirect: 'error', signal });
  const text = await answer.text();
  signal?.throwIfAborted();
  if (server.token !== token) throw new Error('Another token is in use.');
  if (!answer.ok) throw Object.assign(new Error(refusal(answer, text)), { status: answer.status });
  server.hear(answer.headers);
  return { text, next: answer.headers.get('link')?.match(/<([^>]*)>; *rel="?next"?/)?.[1] ?? '' };
}
function refusal(/** @type {Response} */ { status, headers }, /** @type {string} */ text) {
  try { return JSON.parse(text).errors[0].message; } catch { /* Not every refusal has a body. */ }
  // Who is known, and may not, is told why.
  if (status === 403 && headers.get('content-type')?.startsWith('text/plain') && text.trim()) return text.trim();
  return { 401: server.token ? 'The server did not accept this token.' : 'This needs a token.',
    403: 'You may not see this.', 404: 'This server does not answer this.', 413: 'This is too long.' }[status]
    ?? `The server answered ${status}.`;
}
/** The lines of an answer, each one JSON object, and the address of the next page. If a page has fewer than `most`
 *  lines, the next ones are fetched, too. What has come before one is refused is in `lines`. */
async function linesOf(/** @type {string} */ path, /** @type {Record<string, any>} */ parameters = {},
  /** @type {AbortSignal | undefined} */ signal = undefined, most = 0, /** @type {any[]} */ lines = []) {
  let next = path;
  do {
    const answer = await answerOf(next, next === path ? parameters : {}, signal);
    for (const line of answer.text.split('\n')) if (line) lines.push(parsed(line));
    next = answer.next;
  } while (next && lines.length < most);
  return { lines, next };
}
/** Hands the lines of all pages to the user as a file, or the items that are in them. */
async function saveLines(/** @type {string} */ name, /** @type {string} */ path, /** @type {object} */ parameters,
  /** @type {string} */ one, /** @type {((line: any) => any[]) | undefined} */ itemsOf = undefined) {
  try {
    let text = '', next = path;
    do {
      const answer = await answerOf(next, next === path ? parameters : {});
      text += itemsOf ? answer.text.split('\n').filter(Boolean).flatMap((line) => itemsOf(parsed(line)))
        .map((item) => `${JSON.stringify(item)}\n`).join('') : answer.text;
      next = answer.next;
    } while (next && text.length < bounds.file);
    save(name, text);
    const more = next ? '; there are more, which relay has on the command line' : '';
    tell(`${counted(text.split('\n').length - 1, one)}${more}.`);
  } catch (error) { tell(messageOf(error)); }
}

// MARK: Lists

/** A list of any length, of which only what can be seen is in the page. One element has the keyboard; `open` (Enter or
 *  a click), `move` and `fold` (Left and Right) say with which item something was done, `seen` which rows are in sight.
 *  Where items have keys, the one with the keyboard and those in sight stay where they are when others come and go. */
class Rows extends HTMLElement {
  height = 22; count = 0; active = 0;
  /** @type {(index: number) => any} */ item = (index) => index;
  /** @type {(item: any, index: number) => HTMLElement} */ make = () => h('div');
  /** @type {(item: any, index: number) => boolean} */ isSelected = () => false;
  /** @type {((item: any) => unknown) | null} */ key = null;
  #space = h('div', { class: 'space', role: 'none' });
  /** @type {Map<number, HTMLElement>} */ #made = new Map();
  #drawSoon = inFrame(() => this.#draw());
  static #lists = 0;
  #name = `list${++Rows.#lists}`;

  connectedCallback() {
    if (this.#space.isConnected) return;
    this.append(this.#space);
    this.tabIndex = 0;
    this.addEventListener('scroll', () => this.#draw(), { passive: true });
    this.addEventListener('keydown', (event) => this.#key(event));
    this.addEventListener('focus', () => this.#draw());
    this.addEventListener('click', ({ target }) => {
      const row = /** @type {HTMLElement} */ (target).closest('[data-index]');
      if (!row || /** @type {HTMLElement} */ (target).closest('button')) return;
      this.active = Number(/** @type {HTMLElement} */ (row).dataset.index);
      this.#emit('open');
      this.refresh();
    });
    new ResizeObserver(() => this.#drawSoon()).observe(this);
  }

  set head(/** @type {HTMLElement} */ element) {
    this.querySelector(':scope > .head')?.remove();
    element.classList.add('head');
    this.prepend(element);
  }
  /** Shows `count` rows; `item` says what each is about, for as long as they are shown. */
  show(/** @type {number} */ count, item = this.item) {
    whenFree(this, () => {
      const top = this.scrollTop > 0 ? Math.ceil(this.scrollTop * this.#scale / this.height) : 0;
      const keyOf = (index) => (this.key && index > 0 && index < this.count ? this.key(this.item(index)) : undefined);
      const [active, first] = [keyOf(this.active), keyOf(top)];
      [this.count, this.item] = [count, item];
      let shift = 0;
      for (let index = 0; this.key && (active ?? first) !== undefined && index < count; index += 1) {
        const key = this.key(item(index));
        if (key === active) this.active = index;
        if (key === first) shift = index - top;
      }
      this.active = Math.max(0, Math.min(this.active, count - 1));
      this.#space.style.height = `${this.#tall}px`;
      if (shift) this.scrollTop += shift * this.height / this.#scale;
      if (this.getAttribute('role') === 'grid') this.setAttribute('aria-rowcount', String(count + 1));
      this.refresh();
    });
  }
  /** Makes the rows anew, which `show` does as well. */
  refresh() {
    whenFree(this, () => {
      for (const row of this.#made.values()) row.remove();
      this.#made.clear();
      this.#drawSoon();
    }, true);
  }
  /** Whether the last row is in sight. */
  get isAtEnd() { return this.scrollTop + this.clientHeight + this.height >= this.scrollHeight; }
  /** Scrolls until a row can be seen. */
  reveal(/** @type {number} */ index, isCentred = false) {
    const room = this.clientHeight - this.#headHeight;
    const at = this.#offset(index);
    const isAbove = at < 0, isBelow = at + this.height > room;
    if (isAbove || isBelow)
      this.scrollTop = (index * this.height - (isCentred ? room / 2 : isAbove ? 0 : room - this.height)) / this.#scale;
    this.#draw();
  }

  get #tall() { return Math.min(this.count * this.height, bounds.tallestList); }
  get #headHeight() {
    return /** @type {HTMLElement | null} */ (this.querySelector(':scope > .head'))?.offsetHeight ?? 0;
  }
  /** By how much more rows there are than a browser lets an element be tall. */
  get #scale() {
    return Math.max(1, (this.count * this.height - this.clientHeight) / Math.max(1, this.#tall - this.clientHeight));
  }
  /** How far below the list's top a row is. */
  #offset(/** @type {number} */ index) { return index * this.height - this.scrollTop * this.#scale; }
  #emit(/** @type {string} */ name, detail = this.count ? this.item(this.active) : undefined) {
    if (detail !== undefined) this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  #draw() {
    const scale = this.#scale;
    const first = Math.max(0, Math.floor(this.scrollTop * scale / this.height) - 4);
    const last = Math.min(this.count, first + Math.ceil(this.clientHeight / this.height) + 9);
    for (const [index, row] of this.#made) if (index < first || index >= last) {
      row.remove();
      this.#made.delete(index);
    }
    // From below, so that each has its place before the next one: who reads them reads them in order.
    for (let index = last - 1; index >= first; index -= 1) {
      let row = this.#made.get(index);
      if (!row) {
        row = this.#makeRow(index);
        this.#made.set(index, row);
        this.#space.insertBefore(row, this.#made.get(index + 1) ?? null);
      }
      row.classList.toggle('active', index === this.active);
      row.style.top = `${scale > 1 ? this.scrollTop + this.#offset(index) : index * this.height}px`;
    }
    const active = this.#made.get(this.active);
    if (active) this.setAttribute('aria-activedescendant', active.id);
    else this.removeAttribute('aria-activedescendant');
    this.#emit('seen', { first, last });
  }
  #makeRow(/** @type {number} */ index) {
    const item = this.item(index);
    const row = this.make(item, index);
    const role = this.getAttribute('role');
    const isSelected = this.isSelected(item, index);
    row.id = `${this.#name}-${index}`;
    row.dataset.index = String(index);
    row.setAttribute('role', role === 'tree' ? 'treeitem' : role === 'grid' ? 'row' : 'option');
    if (role !== 'tree' || isSelected) row.setAttribute('aria-selected', String(isSelected));
    if (role === 'grid') row.setAttribute('aria-rowindex', String(index + 2));
    if (role === 'listbox') {
      row.setAttribute('aria-posinset', String(index + 1));
      row.setAttribute('aria-setsize', String(this.count));
    }
    return row;
  }

  #key(/** @type {KeyboardEvent} */ event) {
    if (event.target !== this || event.ctrlKey || event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(this.clientHeight / this.height) - 2);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.count,
      End: this.count }[event.key];
    if (step !== undefined) {
      this.active = Math.max(0, Math.min(this.count - 1, this.active + step));
      this.reveal(this.active);
      this.#emit('move');
    } else if (event.key === 'Enter' || event.key === ' ') this.#emit('open');
    else if (/^Arrow(Left|Right)$/.test(event.key) && this.getAttribute('role') === 'tree')
      this.#emit('fold', event.key === 'ArrowRight');
    else return;
    event.preventDefault();
  }
}

/** Says that something differs from before, also to those who do not see colours. */
const marked = (/** @type {string | null} */ mark) => mark && h('span', { class: 'seen-by-readers' }, `, ${mark}`);
/** @typedef {{ key: string, path: string, depth: number, value: any, mark: string, was?: any, children: number,
 *    nth: number, of: number, isBare?: boolean }} TreeRow */

/** A value as a tree, with what changed since another value marked. */
class Tree extends HTMLElement {
  /** @type {Rows} */ #list = h('relay-rows', { role: 'tree', test: 'tree' });
  /** @type {TreeRow[]} */ #rows = [];
  /** @type {Set<string>} */ #closed = new Set();
  #value = /** @type {any} */ (undefined); #before = /** @type {any[]} */ ([]); #filter = '';

  connectedCallback() {
    if (this.#list.isConnected) return;
    this.append(this.#list);
    this.#list.setAttribute('aria-label', this.getAttribute('label') ?? 'Result');
    this.#list.make = (row) => this.#make(row);
    this.#list.key = (row) => row.path;
    this.#list.addEventListener('open', (/** @type {any} */ { detail }) => this.#open(detail));
    this.#list.addEventListener('fold', (/** @type {any} */ { detail }) => this.#fold(detail));
  }
  /** Shows a value; with the one before it, what differs is marked. */
  show(/** @type {any} */ value, ...before) {
    [this.#value, this.#before] = [value, before];
    this.#draw();
  }
  set filter(/** @type {string} */ text) { this.#filter = text.trim().toLowerCase(); this.#draw(); }
  /** How many rows differ from the value before. */
  get changes() { return this.#rows.filter((row) => row.mark && row.mark !== 'inside').length; }

  #draw() {
    const rows = this.#rows = this.#flatten();
    this.#list.show(rows.length, (index) => rows[index]);
  }
  #flatten() {
    /** @type {TreeRow[]} */ const rows = [];
    const filter = this.#filter;
    const hasBefore = this.#before.length > 0;
    const wanted = filter === '' ? NaN : Number(filter);
    /** A number is found in each of its forms: 1e-07 and 1e-7. */
    const fits = (/** @type {any} */ each) => {
      const text = textOf(each);
      const digits = typeOf(each) === 'number' ? Number(text) : NaN;
      return text.toLowerCase().includes(filter) || digits === wanted
        || (!Number.isNaN(digits) && String(digits).includes(filter));
    };
    const idOf = (item) => { const id = item?.id ?? item?.node?.id; return exactly(id) ?? id; };
    /** Adds the row of a value and those of what is in it.
     *  @returns {[boolean, boolean]} whether the filter wants any of them, and whether any differs from before */
    const walk = (/** @type {Omit<TreeRow, 'mark' | 'children'>} */ place, /** @type {boolean} */ had,
      /** @type {boolean} */ isKept, /** @type {boolean} */ isGone) => {
      if (rows.length >= bounds.rowsOfTree) return [false, false];
      const { key, path, depth, value, was } = place;
      const isList = Array.isArray(value);
      const isCompared = hasBefore && had && !isGone && isObject(value) && isObject(was)
        && Array.isArray(was) === isList;
      const keys = isObject(value) ? Object.keys(value) : [];
      const at = rows.length;
      const mark = isGone ? 'removed' : !hasBefore ? '' : !had ? 'added'
        : isCompared || same(value, was) ? '' : 'changed';
      const row = { ...place, children: keys.length, mark };
      rows.push(row);
      const isFound = isKept || filter === '' || key.toLowerCase().includes(filter)
        || (!isObject(value) && fits(value));
      let isWanted = isFound;
      const descend = (child, item, before, hadChild, nth, isGoneToo = isGone) => {
        const there = { key: child, path: `${path}/${isGoneToo ? '-' : ''}${child}`, depth: depth + 1, value: item,
          was: before, nth, of: keys.length };
        const [isChildWanted, differs] = walk(there, hadChild, isFound && filter !== '', isGoneToo);
        isWanted ||= isChildWanted;
        if (differs && row.mark === '') row.mark = 'inside';
      };
      if (this.#closed.has(path) && !filter) {
        if (isCompared && !same(value, was)) row.mark = 'inside';
      } else if (isCompared && isList) {
        // Items of lists are compared with the item of the same id, wherever it was.
        /** @type {Map<any, any[]>} */ const items = new Map();
        was.forEach((item, index) => {
          const id = idOf(item) ?? index;
          items.set(id, [...items.get(id) ?? [], item]);
        });
        value.forEach((item, index) => {
          const there = items.get(idOf(item) ?? index) ?? [];
          descend(String(index), item, there[0], there.length > 0, index + 1);
          there.shift();
        });
        for (const [id, left] of items) for (const item of left)
          descend(`− ${shown(id, 60)}`, item, item, true, keys.length, true);
      } else {
        keys.forEach((child, index) => descend(child, value[child], isCompared ? was[child] : undefined,
          isCompared && Object.hasOwn(was, child), index + 1));
        if (isCompared) for (const child of Object.keys(was))
          if (!Object.hasOwn(value, child)) descend(child, was[child], was[child], true, keys.length, true);
      }
      if (!isWanted) rows.length = at;
      return [isWanted, row.mark !== ''];
    };
    const [value, before] = [this.#value, this.#before[0]];
    if (isObject(value)) Object.keys(value).forEach((key, index, { length: of }) => walk(
      { key, path: `/${key}`, depth: 0, value: value[key], was: before?.[key], nth: index + 1, of },
      isObject(before) && Object.hasOwn(before, key), false, false));
    else if (value !== undefined)
      walk({ key: '', path: '/', depth: 0, value, was: before, nth: 1, of: 1, isBare: true }, hasBefore, false, false);
    if (rows.length >= bounds.rowsOfTree) rows.push({ key: '', path: '', depth: 0, mark: '', children: 0, nth: 1, of: 1,
      isBare: true, value: `Only ${number(bounds.rowsOfTree)} rows are shown. Close some, or filter.` });
    return rows;
  }

  #make(/** @type {TreeRow} */ { key, path, depth, value, mark, was, children, nth, of, isBare }) {
    const isOpen = children > 0 && (!this.#closed.has(path) || this.#filter !== '');
    const row = h('div', { 'aria-level': depth + 1, 'aria-posinset': nth, 'aria-setsize': of, class: mark,
      'aria-expanded': children > 0 ? isOpen : null, 'data-mark': mark || null },
      h('span', { class: 'indent' }),
      h('span', { class: 'twist', 'aria-hidden': 'true' }, children > 0 ? (isOpen ? '▾' : '▸') : ''),
      !isBare && [h('bdi', { class: 'key' }, key === '' ? '""' : shown(key, 80)), ': '],
      isObject(value) ? h('span', { class: 'quiet' },
        Array.isArray(value) ? `[${number(children)}]` : `{${children ? number(children) : ''}}`)
      : key === 'id' && typeof value === 'string' && mark !== 'removed'
        ? h('button', { class: 'link', tabindex: -1, title: 'Show this record', onclick: () => showRecord(value) },
          h('bdi', {}, brief(value)))
      : h('bdi', { class: `value-${typeOf(value)}` }, brief(value)),
      mark === 'changed' && [h('span', { class: 'quiet' }, '   was '), h('bdi', { class: 'quiet' }, brief(was, 60))],
      mark && mark !== 'changed' && marked(mark === 'inside' ? 'changed inside' : mark));
    row.style.setProperty('--depth', String(depth));
    return row;
  }
  #open(/** @type {TreeRow} */ row) {
    if (row.children) this.#toggle(row);
    else if (row.key === 'id' && typeof row.value === 'string') showRecord(row.value);
    else if (typeof row.value === 'string') showText(shown(row.key || 'Value', 80), row.value);
  }
  #fold(/** @type {boolean} */ isRight) {
    const list = this.#list;
    const row = list.item(list.active);
    if (row.children > 0 && this.#closed.has(row.path) === isRight) return this.#toggle(row);
    if (isRight && !row.children) return;
    let to = list.active + (isRight ? 1 : -1);
    while (!isRight && to > 0 && list.item(to).depth >= row.depth) to -= 1;
    list.active = Math.max(0, Math.min(to, list.count - 1));
    list.reveal(list.active);
  }
  #toggle(/** @type {TreeRow} */ row) {
    if (!this.#closed.delete(row.path)) this.#closed.add(row.path);
    this.#draw();
  }
}

// MARK: Operations

const keyword = /^(query|mutation|subscription|fragment|on|true|false|null)$/;
const token = new RegExp([/(#[^\n\r]*)/, /("""(?:\\"""|[^])*?(?:"""|$)|"(?:\\.|[^"\\\n\r])*"?)/, /(\$\w+)/, /(@\w+)/,
  /(-?\d[\d.eE+-]*)/, /(\w+)/].map(({ source }) => source).join('|'), 'g');
/** The tokens of a document, for its colours. What it means, the server's parser says. */
function* tokensOf(/** @type {string} */ text) {
  for (const match of text.matchAll(token)) {
    const [all, comment, string, variable, directive, figure, name = ''] = match;
    const kind = comment ? 'comment' : string ? 'literal' : variable ? 'variable' : figure ? 'number'
      : directive || keyword.test(name) ? 'keyword' : /^[A-Z]/.test(name) ? 'typename' : 'name';
    yield { kind, text: all, start: match.index ?? 0, end: (match.index ?? 0) + all.length };
  }
}
/** What to call a document: its first operation or field. */
function titleOf(/** @type {string} */ text) {
  return [...tokensOf(text.slice(0, 2_000))].find(({ kind }) => kind === 'typename' || kind === 'name')?.text ?? '';
}
/** Where a line and a column of a text are. */
function offsetOf(/** @type {string} */ text, line = 1, column = 1) {
  let start = 0;
  for (const end of text.matchAll(/\r\n|[\n\r]/g)) { if (line-- <= 1) break; start = (end.index ?? 0) + end[0].length; }
  return Math.min(start + column - 1, text.length);
}

/** Asks the server about a document. What it can carry out is remembered: that is asked again and again. */
async function help(/** @type {string} */ text, /** @type {object} */ more = {},
  /** @type {AbortSignal | undefined} */ signal = undefined) {
  const { text: answer } = await answerOf('/explorer/document', {}, signal, { text, operations: true, ...more });
  const parsed = JSON.parse(answer);
  known.delete(text);
  known.set(text, parsed.operations);
  for (const oldest of known.keys()) if (known.size > 2 * bounds.tabs) known.delete(oldest); else break;
  return parsed;
}
/** @type {Map<string, Operation[] | undefined>} */ const known = new Map();
/** What a document can carry out: undefined if the server cannot read it, or does not say.
 *  @returns {Promise<Operation[] | undefined>} */
const operationsOf = async (/** @type {string} */ text) =>
  (known.has(text) ? known.get(text) : (await help(text).catch(() => ({}))).operations);

/** The variables of a document, or undefined after it has been said what is wrong with them. */
function variablesOf(/** @type {string} */ text, /** @type {(wrong: string) => void} */ say) {
  try {
    const value = text.trim() ? parsed(text) : {};
    const wrong = isObject(value) && !Array.isArray(value) ? unreadable(value) : 'Variables must be a JSON object.';
    say(wrong);
    return wrong ? undefined : value;
  } catch (error) { say(messageOf(error)); }
  return undefined;
}
/** What is wrong with a value that JavaScript reads as JSON, and the server does not.
 *  @returns {string} */
function unreadable(/** @type {any} */ value, depth = 1) {
  if (depth > bounds.depth) return `This is nested deeper than ${bounds.depth} levels.`;
  if (isObject(value)) for (const each of Object.values(value)) {
    const wrong = unreadable(each, depth + 1);
    if (wrong) return wrong;
  }
  const isTooLarge = typeOf(value) === 'number' && !Number.isFinite(Number(exactly(value) ?? value));
  return isTooLarge ? `${brief(value, 60)} is too large.` : '';
}

/** A textarea with colours under it; what can be written at the caret, and what is wrong, the server says. */
class Editor extends HTMLElement {
  #text = document.createTextNode('');
  /** @type {HTMLTextAreaElement} */ #area = h('textarea', { spellcheck: 'false', autocomplete: 'off',
    autocapitalize: 'off', 'aria-label': 'GraphQL document', 'aria-autocomplete': 'list', 'aria-haspopup': 'listbox',
    test: 'editor' });
  #list = h('ul', { role: 'listbox', id: 'completions', 'aria-label': 'What can be written here' });
  #told = h('p', { hidden: true });
  #popup = h('div', { class: 'completions', hidden: true, test: 'completions' }, this.#list, this.#told);
  #mistakes = h('ul', { class: 'mistakes', 'aria-label': 'Mistakes in the document', 'aria-live': 'polite',
    test: 'mistakes' });
  #scroller = h('div', { class: 'code' },
    h('div', { class: 'stack' }, h('pre', { 'aria-hidden': 'true' }, this.#text), this.#area), this.#popup);
  /** @type {{ text: string, detail?: string, description?: string, deprecated?: boolean }[]} */ #suggestions = [];
  #replaced = [0, 0]; #chosen = 0; #isChosen = false; #isWanted = false; #isInserting = false;
  #drawSoon = inFrame(() => this.#draw());
  #undo = /** @type {{ before: string, after: string } | null} */ (null); #newest = new Newest();
  /** @type {Map<string, any>} */ #colours = new Map();
  changed = () => {}; run = () => {}; learned = () => {};

  connectedCallback() {
    if (this.#scroller.isConnected) return;
    this.append(this.#scroller, this.#mistakes);
    this.#area.addEventListener('input', (/** @type {any} */ { data, inputType }) => {
      // What is inserted comes a line at a time.
      if (this.#isInserting) return;
      this.#drawSoon();
      this.changed();
      this.#ask(/[\w{(@$:. ]$/.test(data ?? '') || (!this.#popup.hidden && inputType?.startsWith('delete')));
    });
    this.#area.addEventListener('keydown', (event) => this.#key(event));
    this.#area.addEventListener('blur', () => this.#close());
    this.#area.addEventListener('click', () => this.#close());
    this.#list.addEventListener('pointerdown', (event) => {
      event.preventDefault();
      const item = event.target.closest('li');
      if (item) { this.#chosen = [...this.#list.children].indexOf(item); this.#accept(); }
    });
  }
  get value() { return this.#area.value; }
  set value(/** @type {string} */ text) { this.#area.value = text; this.#draw(); this.#close(); this.#ask(false); }
  get caret() { return this.#area.selectionStart; }
  focus() { this.#area.focus(); }
  /** Writes a text in place of what is selected, as if it had been typed: it can be undone. The browser's own way takes
   *  seconds for hundreds of lines; those have an undo of their own. */
  insert(/** @type {string} */ text, start = this.#area.selectionStart, end = this.#area.selectionEnd) {
    this.#area.focus();
    this.#area.setSelectionRange(start, end);
    const before = this.value;
    const isLong = text.split('\n').length > bounds.linesInserted;
    this.#isInserting = true;
    if (isLong || !document.execCommand('insertText', false, text)) this.#area.setRangeText(text, start, end, 'end');
    this.#undo = isLong ? { before, after: this.value } : null;
    this.#isInserting = false;
    this.#drawSoon();
    this.changed();
    this.#ask(false);
  }
  /** Writes the document as the server would, unless it has become another one meanwhile. */
  async format() {
    const text = this.value;
    try {
      const { formatted, notFormatted, errors } = await help(text, { format: true });
      if (this.value !== text || !this.offsetParent) return;
      if (formatted === undefined) tell(`Not formatted: ${shown(notFormatted ?? errors[0]?.message ?? '')}`);
      else if (formatted !== text) this.insert(formatted, 0, text.length);
    } catch (error) { tell(messageOf(error)); }
  }

  #draw() {
    // A last empty line has no height of its own.
    this.#text.data = `${this.#area.value}\n`;
    for (const kind of ['keyword', 'variable', 'literal', 'number', 'comment', 'typename', 'mistake'])
      this.#colour(kind)?.clear();
    if (this.#area.value.length > bounds.document) return;
    for (const { kind, start, end } of tokensOf(this.#area.value))
      if (kind !== 'name') this.#colour(kind)?.add(this.#range(start, end));
  }
  #colour(/** @type {string} */ kind) {
    const { highlights } = /** @type {any} */ (CSS);
    // @ts-ignore: newer than the checker.
    if (highlights && !this.#colours.has(kind)) this.#colours.set(kind, new Highlight());
    highlights?.set(kind, this.#colours.get(kind));
    return this.#colours.get(kind);
  }
  #range(/** @type {number} */ start, /** @type {number} */ end) {
    const [startOffset, endOffset] = [start, end].map((each) => Math.min(each, this.#text.length));
    return new StaticRange({ startContainer: this.#text, startOffset, endContainer: this.#text, endOffset });
  }

  /** Asks what is wrong, and what can be written at the caret. */
  #ask(/** @type {boolean} */ wantsSuggestions, delay = 120) {
    const text = this.value;
    const { caret } = this;
    if (!wantsSuggestions) this.#close();
    this.#isWanted = wantsSuggestions;
    if (text.length > bounds.document || (!text.trim() && !wantsSuggestions)) {
      this.#newest.cancel();
      return this.#show([], text);
    }
    this.#newest.run(async (signal) => {
      const more = wantsSuggestions ? { offset: caret } : {};
      const { errors = [], replaced, suggestions = [] } = await help(text, more, signal);
      this.#show(errors, text);
      this.learned();
      if (this.#isWanted && this.caret === caret && document.activeElement === this.#area)
        this.#suggest(replaced ?? [caret, caret], suggestions);
    }, (message) => this.#show([{ message: `The server gives no help: ${message}` }], text), delay);
  }
  #show(/** @type {{ message: string, line?: number, column?: number }[]} */ mistakes, /** @type {string} */ text) {
    this.#colour('mistake')?.clear();
    const places = mistakes.slice(0, bounds.mistakes).map(({ message, line = 1, column = 1 }) => {
      const start = offsetOf(text, line, column);
      return { message, line, column, start, end: start + (text.slice(start).match(/^\w+/)?.[0].length ?? 1) };
    });
    for (const { start, end } of places) this.#colour('mistake')?.add(this.#range(start, end));
    draw(this.#mistakes, places, () => places.map(({ message, line, column, start, end }) =>
      h('li', {}, h('button', { class: 'link bad', onclick: () => {
        this.#area.focus();
        this.#area.setSelectionRange(start, end);
      } }, `${line}:${column}  ${shown(message, 400)}`))));
  }

  #suggest(/** @type {[number, number]} */ replaced, /** @type {any[]} */ suggestions) {
    const [start, end] = replaced;
    if (!suggestions.length || (suggestions.length === 1 && suggestions[0].text === this.value.slice(start, end)))
      return this.#close();
    this.#suggestions = suggestions.slice(0, bounds.suggestions);
    this.#replaced = replaced;
    fill(this.#list, this.#suggestions.map(({ text, detail, deprecated }, index) =>
      h('li', { role: 'option', id: `completion-${index}`, class: deprecated ? 'old' : null },
        h('span', {}, shown(text)), h('span', { class: 'quiet' }, shown(detail ?? '', 60)))));
    this.#draw();
    const caret = document.createRange();
    caret.setStart(this.#text, Math.min(start, this.#text.length));
    const place = caret.getBoundingClientRect();
    const frame = this.#scroller.getBoundingClientRect();
    this.#popup.hidden = false;
    const left = Math.max(0, Math.min(place.left - frame.left, frame.width - this.#popup.offsetWidth - 4));
    this.#popup.style.left = `${left}px`;
    this.#popup.style.top = `${place.bottom - frame.top + this.#scroller.scrollTop + 2}px`;
    this.#area.setAttribute('aria-controls', 'completions');
    this.#choose(0);
    this.#isChosen = start < end;
    this.#popup.scrollIntoView({ block: 'nearest' });
  }
  #choose(/** @type {number} */ index) {
    this.#isChosen = true;
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
    this.insert(this.#suggestions[this.#chosen]?.text ?? '', start, end);
    this.#close();
  }
  #close() {
    this.#popup.hidden = true;
    this.#isWanted = false;
    this.#suggestions = [];
    this.#area.removeAttribute('aria-activedescendant');
    this.#area.removeAttribute('aria-controls');
  }
  #key(/** @type {KeyboardEvent} */ event) {
    const isCommand = event.ctrlKey || event.metaKey;
    const isOpen = !this.#popup.hidden;
    if (isCommand && event.key === 'Enter') { this.#close(); if (!event.repeat) this.run(); }
    else if (isCommand && event.key === ' ') this.#ask(true, 0);
    else if (event.altKey && event.shiftKey && event.code === 'KeyF') this.format();
    else if (isCommand && event.key === 'z' && this.#undo && this.#undo.after === this.value) {
      this.value = this.#undo.before;
      this.changed();
    }
    else if (isOpen && event.key === 'ArrowDown') this.#choose(this.#chosen + 1);
    else if (isOpen && event.key === 'ArrowUp') this.#choose(this.#chosen - 1);
    else if (isOpen && !event.shiftKey && !event.isComposing
      && (event.key === 'Tab' || (event.key === 'Enter' && this.#isChosen))) this.#accept();
    else if (isOpen && event.key === 'Escape') this.#close();
    else if (event.key === 'Enter' && !isCommand && !event.altKey && !event.isComposing) {
      const before = this.value.slice(0, this.caret);
      const indent = before.slice(before.lastIndexOf('\n') + 1).match(/^ */)?.[0] ?? '';
      this.insert(`\n${indent}${/[{(]\s*$/.test(before) ? '  ' : ''}`);
    } else return;
    event.preventDefault();
  }
}

/** @typedef {{ payload: any, sequence: number, time: number, characters: number, nth: number }} Arrival */

/** One operation that runs or ran, and every result it has had. */
class Run extends HTMLElement {
  /** Those that keep results. @type {Set<Run>} */ static #all = new Set();
  /** @type {Arrival[]} */ #arrivals = [];
  #characters = 0; #dropped = 0; #count = 0; #chosen = -1; #held = 0; #cost = 0;
  #isPaused = false; #isAsked = false; #isLate = false; #state = 'Running'; #began = performance.now();
  /** @type {() => void} */ #end = () => {};
  #says = h('span', { class: 'quiet', role: 'status', test: 'run-state' });
  #note = h('p', { class: 'note warn', role: 'status', test: 'run-note' });
  #about = h('p', { class: 'note quiet', test: 'run-about' });
  /** @type {Rows} */ #events = h('relay-rows', { role: 'listbox', 'aria-label': 'Events', test: 'run-events' });
  /** @type {Tree} */ #tree = h('relay-tree');
  #pause = h('button', { test: 'run-pause', 'aria-pressed': 'false', onclick: () => this.pause() }, 'Pause');
  #stop = h('button', { test: 'run-stop', onclick: () => this.stop() }, 'Stop');
  isStream = false; isSafe = true; isRunning = true; about = ''; closed = () => {}; ended = () => {};

  /** Begins. Whether it is a stream, and may be repeated, is what the server says of the operation. */
  begin(/** @type {Payload} */ payload, /** @type {Operation} */ { kind, name, field, live }) {
    const title = shown(name ?? field ?? kind ?? 'document', 60);
    this.isStream = kind === 'subscription' || (live ?? false);
    this.isSafe = kind === 'query' || kind === 'subscription';
    this.about = JSON.stringify(payload);
    this.className = 'panel';
    this.dataset.test = 'run';
    this.setAttribute('role', 'region');
    this.setAttribute('aria-label', `Result of ${title}`);
    const filter = h('input', { type: 'search', placeholder: 'Filter', 'aria-label': 'Filter the result',
      test: 'run-filter', oninput: later(() => { this.#tree.filter = filter.value; }, 100) });
    fill(this,
      h('header', {}, h('h2', {}, title), this.#says, h('span', { class: 'grow' }), filter,
        this.isStream && [this.#pause, h('button', { test: 'run-clear', onclick: () => this.clear() }, 'Clear')],
        this.#stop,
      h('button', { class: 'bare', 'aria-label': `Close the result of ${title}`, test: 'run-close', onclick: () => {
        this.stop();
        this.closed();
      } }, '✕')),
      this.#note, this.#about,
      h('div', { class: `split${this.isStream ? '' : ' single'}` }, this.isStream && this.#events, this.#tree));
    this.#events.make = ({ sequence, time, nth }) => h('div', { title: clock(time) },
      sequence ? `event ${number(sequence)}` : `result ${number(nth)}`,
      h('span', { class: 'quiet' }, `  ${clock(time).slice(11)}`));
    this.#events.key = ({ nth }) => nth;
    this.#events.isSelected = (arrival) => arrival === this.#arrivals[this.#index];
    for (const name of ['open', 'move']) this.#events.addEventListener(name, (/** @type {any} */ { detail }) => {
      // On the newest one the display follows.
      this.#chosen = detail === this.#arrivals.at(-1) ? -1 : detail.nth;
      this.#draw();
    });
    Run.#all.add(this);
    // What nobody sees is drawn when somebody does.
    new ResizeObserver(() => this.#isLate && this.#draw()).observe(this);
    this.#end = server.start(payload, {
      next: (result, characters) => this.#take(result, characters),
      failed: (errors) => { this.#take({ errors }, 0); this.#finish('Failed'); },
      done: () => this.#finish(this.isStream ? 'Ended by the server'
        : this.#arrivals.at(-1)?.payload.errors ? 'Done, with errors' : 'Done'),
      lost: () => {
        this.#note.textContent = this.isStream ? 'The server is gone. This resumes when it is back.'
          : 'The server is gone. This is asked again when it is back.';
        this.#become('Waiting for the server');
      },
      state: () => this.#seeServer(),
      ...(this.isStream && { resumed: (isComplete, sequence) => {
        const from = sequence ? ` Results continue from event ${number(sequence)}.` : '';
        this.#note.textContent = `There was a gap in the connection; ${
          isComplete ? 'nothing was missed.' : 'what happened meanwhile may be missing.'}${from}`;
        this.#become('Live');
      } }),
    }, this.isSafe);
    this.#become(server.state !== 'open' ? 'Waiting for the server'
      : this.isStream ? 'Running; no result yet' : 'Running');
    this.#seeServer();
  }
  /** The server is there, and does not let this page in; or it does again. */
  #seeServer() {
    if (!this.isRunning) return;
    if (server.state === 'refused') {
      this.#note.textContent = server.reason || (server.token
        ? 'The server did not accept the token. This goes on when it accepts one.'
        : 'The server asks for a token. This goes on when it accepts one.');
      this.#become('Not let in');
    } else if (server.state === 'open' && this.#state === 'Not let in') {
      this.#note.textContent = '';
      this.#become(this.isStream ? 'Running; no result yet' : 'Running');
    }
  }
  stop() { this.#end(); if (this.isRunning) this.#finish('Stopped'); }
  /** Ends, and gives up its results. */
  leave() { this.stop(); Run.#all.delete(this); this.remove(); }
  pause() {
    this.#isPaused = !this.#isPaused;
    this.#held = 0;
    this.#pause.textContent = this.#isPaused ? 'Continue' : 'Pause';
    this.#pause.setAttribute('aria-pressed', String(this.#isPaused));
    this.#chosen = this.#isPaused ? this.#arrivals.at(-1)?.nth ?? -1 : -1;
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
      : Math.max(0, this.#arrivals.findIndex(({ nth }) => nth >= this.#chosen));
  }
  #become(/** @type {string} */ state) {
    this.#state = state;
    this.#says.textContent = !this.#isPaused || !this.isRunning ? state
      : this.#held ? `Paused, ${number(this.#held)} new` : 'Paused';
    this.#says.className = state === 'Failed' ? 'bad' : state === 'Live' && !this.#isPaused ? 'good' : 'quiet';
  }
  #finish(/** @type {string} */ state) {
    this.isRunning = false;
    this.#stop.hidden = this.#pause.hidden = true;
    this.#note.textContent = '';
    this.#become(state);
    this.ended();
  }
  #drop() {
    this.#characters -= this.#arrivals.shift()?.characters ?? 0;
    this.#dropped += 1;
  }
  #take(/** @type {any} */ payload, /** @type {number} */ characters) {
    this.#count += 1;
    this.#characters += characters;
    this.#arrivals.push({ payload, sequence: sequenceOf(payload), time: Date.now(), characters, nth: this.#count });
    while (this.#arrivals.length > 1
      && (this.#arrivals.length > bounds.eventsOfRun || this.#characters > bounds.charactersOfRun)) this.#drop();
    // Together they have a bound as well: the one with the most gives up its oldest.
    const all = [...Run.#all].filter((run) => run.#arrivals.length > 1);
    let sum = all.reduce((before, run) => before + run.#characters, 0);
    while (sum > bounds.charactersOfRuns && all.some((run) => run.#arrivals.length > 1)) {
      const largest = all.reduce((a, b) => (b.#arrivals.length > 1 && b.#characters > a.#characters ? b : a));
      sum -= largest.#arrivals[0]?.characters ?? 0;
      largest.#drop();
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
    this.#isLate = !this.offsetParent;
    if (this.#isLate) return;
    const began = performance.now();
    const newestFirst = [...this.#arrivals].reverse();
    this.#events.show(newestFirst.length, (index) => newestFirst[index]);
    const index = this.#index;
    this.#drawResult(this.#arrivals[index], this.isStream ? this.#arrivals[index - 1] : undefined);
    this.#cost = performance.now() - began;
  }
  #drawResult(/** @type {Arrival | undefined} */ arrival, /** @type {Arrival | undefined} */ before) {
    if (!arrival) return this.#tree.show(undefined);
    this.#tree.show(resultOf(arrival.payload), ...(before ? [resultOf(before.payload)] : []));
    this.#about.textContent = joined(arrival.sequence && `event ${number(arrival.sequence)}`, clock(arrival.time),
      this.isStream ? `${number(this.#count)} in all`
        : `${number(Math.round(arrival.time - performance.timeOrigin - this.#began))} ms`,
      counted(arrival.characters, 'character'), this.#dropped && `${number(this.#dropped)} older ones were dropped`,
      before && `${number(this.#tree.changes)} changed`);
  }
}
/** What to show of an answer: its data, and its errors if it has any. */
const resultOf = (/** @type {any} */ { data, errors }) =>
  (errors ? { errors, ...(data !== undefined && { data }) } : data);

/** @typedef {{ id: string, text: string, variables: string }} OperationTab */
const first = `# Ctrl+Enter runs the operation at the caret. Ctrl+Space says what can be written there.
query {
  __typename
}
`;

/** Documents in tabs, and what running them gave. */
class Operations extends HTMLElement {
  /** @type {OperationTab[]} */ tabs = []; current = 0;
  /** The tabs that this window has or had. @type {Set<string>} */ #own = new Set();
  /** @type {Map<string, HTMLElement>} */ #runs = new Map();
  /** @type {Editor} */ #editor = h('relay-editor');
  /** @type {HTMLTextAreaElement} */ #variables = h('textarea',
    { id: 'variables', spellcheck: 'false', test: 'variables', placeholder: '{ }' });
  #wrong = h('span', { class: 'bad', role: 'status', test: 'variables-error' });
  #strip = h('div', { class: 'tabs grow', role: 'tablist', 'aria-label': 'Documents', test: 'tabs' });
  /** @type {HTMLSelectElement} */ #choice = h('select',
    { 'aria-label': 'Which operation', test: 'operation', hidden: true });
  #results = h('div', { test: 'results' });
  #isUnkept = false; #keep = later(() => this.#write(), 300);

  connectedCallback() {
    if (this.#results.isConnected) return;
    this.className = 'operations';
    const saved = kept.read('tabs');
    this.tabs = kept.documents(saved?.tabs, bounds.tabs);
    if (!this.tabs.length) this.tabs = [{ id: '', text: first, variables: '' }];
    for (const tab of this.tabs) { tab.id = String(tab.id || freshID()); this.#own.add(tab.id); }
    this.current = Math.max(0, Math.min(Math.trunc(Number(saved?.current)) || 0, this.tabs.length - 1));
    fill(this,
      h('section', { class: 'panel', 'aria-label': 'Document' },
        h('header', {}, this.#strip, h('button', { class: 'bare', 'aria-label': 'New tab', test: 'tab-new',
          onclick: () => { if (this.open('', '')) this.#editor.focus(); } }, '+')),
        h('header', {},
          // The second click of a double click is not a second wish, nor is a key that is held.
          h('button', { class: 'main', test: 'run-button', title: 'Ctrl+Enter',
            onclick: (event) => event.detail < 2 && this.run(),
            onkeydown: (event) => event.repeat && event.preventDefault() }, '▶ Run'),
          this.#choice, h('span', { class: 'grow' }),
          h('button', { test: 'format', title: 'Shift+Alt+F', onclick: () => this.#editor.format() }, 'Format'),
          h('button', { test: 'share', onclick: () => this.#share() }, 'Share'),
          h('button', { test: 'history', onclick: () => this.#showHistory() }, 'History')),
        this.#editor, h('div', { class: 'variables' },
          h('label', { for: 'variables', class: 'quiet' }, 'Variables ', this.#wrong), this.#variables)),
      this.#results);
    this.#editor.changed = () => this.#changed();
    this.#editor.learned = () => this.#offer();
    this.#editor.run = () => this.run();
    this.#variables.addEventListener('input', () => this.#changed());
    this.#variables.addEventListener('keydown', (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key !== 'Enter') return;
      event.preventDefault();
      if (!event.repeat) this.run();
    });
    this.#strip.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (event.key === 'Delete') this.#closeTab(this.current);
      if (step) this.#turn((this.current + step + this.tabs.length) % this.tabs.length);
      if (step || event.key === 'Delete') this.#strip.querySelector('[aria-selected=true]')?.focus();
    });
    addEventListener('pagehide', () => this.#write());
    this.#turn(this.current);
  }
  /** The part was asked for, perhaps by a link that brings a document. It is shown, and not run. */
  shown(/** @type {URLSearchParams} */ parameters) {
    const text = parameters.get('text');
    if (text === null || !this.open(text, parameters.get('variables') ?? '')) return;
    history.replaceState(null, '', '#operations');
    tell('This document came with the link. Read it before you run it.');
  }
  /** Gives up what another viewer was shown. */
  forget() {
    for (const run of /** @type {any} */ (this.querySelectorAll('relay-run'))) run.leave();
    this.#runs.clear();
    this.#turn(this.current);
  }
  /** Opens a document in a tab of its own, unless there is one. False if there is no room for it. */
  open(/** @type {string} */ text, /** @type {string} */ variables) {
    const there = this.tabs.findIndex((tab) => tab.text === text && tab.variables === variables);
    if (there < 0 && this.tabs.length >= bounds.tabs) {
      tell(`${bounds.tabs} tabs are open. Close one first.`);
      return false;
    }
    if (there < 0) {
      const id = freshID();
      this.#own.add(id);
      this.#isUnkept = true;
      this.tabs.push({ id, text, variables });
    }
    this.#turn(there < 0 ? this.tabs.length - 1 : there);
    return true;
  }
  /** Writes a text at the caret. */
  insert(/** @type {string} */ text) { place.go('operations'); requestAnimationFrame(() => this.#editor.insert(text)); }

  /** Runs the operation at the caret, or the one that is chosen. A document that the server cannot read is sent, too:
   *  its answer says what is wrong. */
  async run() {
    const tab = this.#tab;
    const { text } = tab;
    const { caret } = this.#editor;
    const chosen = this.#choice.value;
    const variables = variablesOf(tab.variables, (wrong) => { this.#wrong.textContent = wrong; });
    if (!variables) return;
    const operations = await operationsOf(text);
    if (operations?.length === 0) return tell('There is no operation to run.');
    const before = operations?.filter(({ line, column }) => offsetOf(text, line, column) <= caret);
    const operation = operations?.find(({ name }) => name && name === chosen) ?? before?.at(-1)
      ?? operations?.[0] ?? {};
    const payload = { query: text, variables, ...(operation.name && { operationName: operation.name }) };
    const runs = this.#runsOf(tab);
    if (runs.some((each) => each.isRunning && !each.isSafe && each.about === JSON.stringify(payload)))
      return tell('This has no answer yet. It is carried out once.');
    this.#remember(text, tab.variables);
    /** @type {Run} */ const run = h('relay-run');
    const place = /** @type {HTMLElement} */ (this.#runs.get(tab.id));
    run.closed = () => { run.leave(); if (!place.children.length) place.append(this.#empty()); this.#drawTabs(); };
    run.ended = () => this.#drawTabs();
    run.begin(payload, operation);
    place.querySelector('.empty')?.remove();
    // A single result takes the place of the one before, unless that is still awaited and may have written something.
    const old = runs.find((each) => !each.isStream && (each.isSafe || !each.isRunning));
    place.prepend(run);
    if (!run.isStream && old) old.leave();
    else if (runs.length >= bounds.runs) {
      (runs.filter((each) => !each.isRunning).at(-1) ?? runs.at(-1))?.leave();
      tell(`${bounds.runs} results are kept side by side. The oldest was closed.`);
    }
    this.#drawTabs();
  }

  get #tab() { return /** @type {OperationTab} */ (this.tabs[this.current]); }
  /** @returns {Run[]} */
  #runsOf(/** @type {OperationTab} */ tab) {
    return [.../** @type {any} */ (this.#runs.get(tab.id)?.querySelectorAll('relay-run') ?? [])];
  }
  #empty() {
    return h('div', { class: 'empty' }, h('p', {}, 'Results appear here.'),
      h('p', {}, 'Subscriptions run side by side, and every result is kept with its event.'));
  }
  #turn(/** @type {number} */ index) {
    this.current = index;
    const tab = this.#tab;
    const place = this.#runs.get(tab.id) ?? h('div', { class: 'runs' }, this.#empty());
    this.#runs.set(tab.id, place);
    fill(this.#results, place);
    this.#variables.value = tab.variables;
    this.#editor.value = tab.text;
    this.#changed();
    this.#offer();
  }
  #changed() {
    const tab = this.#tab;
    this.#isUnkept ||= tab.text !== this.#editor.value || tab.variables !== this.#variables.value;
    Object.assign(tab, { text: this.#editor.value, variables: this.#variables.value });
    variablesOf(tab.variables, (wrong) => { this.#wrong.textContent = wrong; });
    this.#drawTabs();
    this.#keep();
  }
  /** Offers the operations that the server finds in the document. */
  #offer() {
    const names = known.get(this.#tab.text)?.map(({ name }) => name).filter(Boolean);
    if (!names && this.#tab.text) return;
    const chosen = this.#choice.value;
    draw(this.#choice, names, () => [h('option', { value: '' }, 'at the caret'),
      names?.map((name) => h('option', { value: name }, name))]);
    this.#choice.value = names?.includes(chosen) ? chosen : '';
    this.#choice.hidden = !(names && names.length > 1);
  }
  #drawTabs() {
    const titles = this.tabs.map((tab, index) => ({ name: titleOf(tab.text) || 'New', isCurrent: index === this.current,
      isLive: this.#runsOf(tab).some((run) => run.isStream && run.isRunning) }));
    draw(this.#strip, titles, () => titles.map(({ name, isCurrent, isLive }, index) => {
      const spoken = `${name}${isLive ? ', running' : ''}`;
      const tabindex = isCurrent ? 0 : -1;
      return h('span', { class: isCurrent ? 'current' : null, role: 'none' },
        h('button', { class: 'bare', role: 'tab', 'aria-selected': isCurrent, tabindex, 'aria-label': spoken,
          test: 'tab', onclick: () => this.#turn(index) }, `${isLive ? '● ' : ''}${name}`),
        titles.length > 1 && h('button', { class: 'bare quiet', tabindex, 'aria-label': `Close ${spoken}`,
          test: 'tab-close', onclick: () => this.#closeTab(index) }, '✕'));
    }));
  }
  #closeTab(/** @type {number} */ index) {
    const tab = this.tabs[index];
    if (!tab || this.tabs.length === 1) return;
    for (const run of this.#runsOf(tab)) run.leave();
    this.#runs.delete(tab.id);
    this.tabs.splice(index, 1);
    this.#isUnkept = true;
    this.#turn(Math.min(this.current > index ? this.current - 1 : this.current, this.tabs.length - 1));
  }
  /** Keeps the tabs, if they have changed, beside those that another window has opened. */
  #write() {
    if (!this.#isUnkept) return;
    this.#isUnkept = false;
    const others = kept.documents(kept.read('tabs')?.tabs, bounds.tabs).filter(({ id }) => !this.#own.has(id));
    kept.write('tabs', { tabs: [...this.tabs, ...others].slice(0, bounds.tabs), current: this.current });
  }
  async #share() {
    const parameters = { text: this.#tab.text, variables: this.#tab.variables };
    const link = new URL(place.text('operations', parameters), location.href).href;
    const field = h('input', { readonly: true, 'aria-label': 'Link', test: 'share-link', value: link });
    const note = h('p', { class: 'quiet', role: 'status' },
      'The document and its variables are in the link. No token is, and the server is not told of it.');
    converse('Link to this document', field, note);
    field.select();
    try {
      await navigator.clipboard.writeText(link);
      note.textContent = `Copied. ${note.textContent}`;
    } catch { /* It can be copied by hand. */ }
  }
  #remember(/** @type {string} */ text, /** @type {string} */ variables) {
    const others = kept.documents(kept.read('history'), bounds.history)
      .filter((each) => each.text !== text || each.variables !== variables);
    kept.write('history', [{ text, variables, time: Date.now() }, ...others].slice(0, bounds.history));
  }
  #showHistory() {
    const entries = kept.documents(kept.read('history'), bounds.history);
    const dialog = converse('History',
      entries.length ? h('ul', { class: 'fields', test: 'history-list' },
        entries.map(({ text, variables, time }) => h('li', {}, h('button', { class: 'link mono',
          onclick: () => { if (this.open(text, variables)) dialog.close(); } },
          shown(text.replace(/\s+/g, ' '), 160)), h('span', { class: 'quiet' }, clock(time)))))
        : h('p', { class: 'quiet' }, 'Nothing has been run yet.'),
      h('div', { class: 'row' },
        h('span', { class: 'quiet grow' }, `The last ${bounds.history} are kept in this browser.`),
        h('button', { test: 'history-clear', onclick: () => { kept.write('history', []); dialog.close(); } },
          'Forget them')));
  }
}

// MARK: Schema

/** @typedef {{ kind: string, name?: string, ofType?: TypeReference }} TypeReference */
/** @typedef {{ name: string, description?: string, type: TypeReference, args?: Field[], defaultValue?: string,
 *    isDeprecated?: boolean, deprecationReason?: string }} Field */
/** A type within nine others: as deep as lists of lists go. */
const reference = Array.from({ length: 9 }).reduce((inner) => `kind name ofType { ${inner} }`, 'kind name');
const input = `name description defaultValue type { ${reference} }`;
const introspection = `query Introspection { __schema {
  queryType { name } mutationType { name } subscriptionType { name }
  directives { name description locations args { ${input} } }
  types { kind name description specifiedByURL possibleTypes { name } interfaces { name } inputFields { ${input} }
    enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
    fields(includeDeprecated: true) {
      name description isDeprecated deprecationReason type { ${reference} } args { ${input} } } } } }`;
/** @type {(type?: TypeReference) => string} */
const written = (type) => (type?.kind === 'NON_NULL' ? `${written(type.ofType)}!`
  : type?.kind === 'LIST' ? `[${written(type.ofType)}]` : type?.name ?? '…');
/** @type {(type?: TypeReference) => string} */
const named = (type) => (type?.ofType ? named(type.ofType) : type?.name ?? '');
const isNeeded = (/** @type {Field} */ { type, defaultValue }) => type.kind === 'NON_NULL' && !defaultValue;
const kindOf = (/** @type {{ kind: string }} */ { kind }) => kind.toLowerCase().replace('_', ' ');

/** The types that the server has, where each is used, and a way from a field into a document. */
class Schema extends HTMLElement {
  /** @type {Map<string, any>} */ #types = new Map();
  /** @type {any} */ #schema = null;
  /** @type {{ label: string, type: string, field: string, detail: string }[]} */ #found = [];
  #type = ''; #field = ''; #newest = new Newest();
  /** @type {HTMLInputElement} */ #search = h('input', { type: 'search', placeholder: 'Search types, fields, arguments',
    'aria-label': 'Search the schema', class: 'grow', test: 'schema-search' });
  /** @type {Rows} */ #list = h('relay-rows', { role: 'listbox', 'aria-label': 'Types', test: 'schema-list' });
  #page = h('section', { class: 'panel', 'aria-label': 'Type', test: 'schema-type' });

  connectedCallback() {
    if (this.#page.isConnected) return;
    this.className = 'schema';
    fill(this, h('section', { class: 'panel lists', 'aria-label': 'Types' }, h('header', {}, this.#search), this.#list),
      this.#page);
    this.#search.addEventListener('input', later(() => this.#find(), 80));
    this.#search.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter') return;
      this.#find();
      if (this.#found[0]) place.go('schema', { type: this.#found[0].type, field: this.#found[0].field });
    });
    this.#list.make = ({ label, detail }) => h('div', {}, label, h('span', { class: 'quiet' }, `  ${detail}`));
    this.#list.isSelected = ({ type, field }) => type === this.#type && field === this.#field;
    this.#list.addEventListener('open',
      (/** @type {any} */ { detail: { type, field } }) => place.go('schema', { type, field }));
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
  forget() {
    this.#newest.cancel();
    [this.#schema, this.#types] = [null, new Map()];
    this.#find();
    this.#say('');
  }

  #say(/** @type {string} */ message) { draw(this.#page, message, () => h('p', { class: 'empty' }, message)); }
  #load() {
    this.#newest.run(async (signal) => {
      const { data, errors } = await server.ask({ query: introspection, operationName: 'Introspection' }, signal);
      if (!data) throw new Error(errors?.[0]?.message ?? 'The server did not return its schema.');
      this.#schema = data.__schema;
      this.#types = new Map(data.__schema.types.map((type) => [type.name, type]));
      for (const directive of data.__schema.directives)
        this.#types.set(`@${directive.name}`, { ...directive, kind: 'DIRECTIVE', name: `@${directive.name}` });
      this.#type ||= data.__schema.queryType.name;
      this.#draw();
      this.#find();
    }, (message) => this.#say(message));
  }
  #find() {
    const search = this.#search.value.trim().toLowerCase();
    const types = [...this.#types.values()].filter(({ name }) => !name.startsWith('__'));
    const order = [...this.#roots, 'OBJECT', 'INTERFACE', 'UNION', 'ENUM', 'INPUT_OBJECT', 'SCALAR', 'DIRECTIVE'];
    const rank = ({ name, kind }) => order.indexOf(this.#roots.includes(name) ? name : kind);
    const entry = (type, field, detail) =>
      ({ label: field ? `${type.name}.${field}` : type.name, type: type.name, field, detail });
    this.#found = types.filter(({ name }) => name.toLowerCase().includes(search))
      .sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1)).map((type) => entry(type, '', kindOf(type)));
    if (search) for (const type of types) for (const member of membersOf(type)) {
      const argument = member.args?.find((each) => each.name.toLowerCase().includes(search));
      if (member.name.toLowerCase().includes(search))
        this.#found.push(entry(type, member.name, member.type ? written(member.type) : ''));
      else if (argument) this.#found.push(entry(type, member.name, `argument ${argument.name}`));
    }
    const found = this.#found;
    this.#list.active = 0;
    this.#list.show(found.length, (index) => found[index]);
  }
  get #roots() {
    return ['queryType', 'mutationType', 'subscriptionType'].map((root) => this.#schema?.[root]?.name);
  }

  #link(/** @type {TypeReference} */ type) {
    return h('button', { class: 'link', onclick: () => place.go('schema', { type: named(type) }) }, written(type));
  }
  #draw() {
    this.#list.refresh();
    const type = this.#types.get(this.#type);
    if (!type) return this.#say(`There is no type ${shown(this.#type, 80)}.`);
    const nameLink = (name) => {
      const [of, field] = name.split('.');
      return h('button', { class: 'link mono', onclick: () => place.go('schema', { type: of, field }) }, name);
    };
    const names = (title, list) =>
      list.length > 0 && h('div', { class: 'row' }, h('h3', {}, title), list.map(nameLink));
    const prose = ({ description, isDeprecated, deprecationReason }) =>
      [description && h('p', {}, shown(description, 4_000).replaceAll('\\n', ' ')),
        isDeprecated && h('p', { class: 'warn' }, `Deprecated: ${shown(deprecationReason ?? '', 400)}`)];
    const members = membersOf(type);
    draw(this.#page, [type, this.#field], () => [
      h('header', {}, h('h2', {}, type.name), h('span', { class: 'quiet' }, kindOf(type))),
      h('div', { class: 'body', tabindex: 0, role: 'group', 'aria-label': type.name }, prose(type),
        names('Implements', (type.interfaces ?? []).map(({ name }) => name)),
        names('Possible types', (type.possibleTypes ?? []).map(({ name }) => name)),
        type.locations && h('p', { class: 'quiet' }, `On ${type.locations.join(', ')}`),
        members.length > 0 && h('h3', {}, { ENUM: 'Values', DIRECTIVE: 'Arguments' }[type.kind] ?? 'Fields'),
        members.length > 0 && h('ul', { class: 'fields' }, members.map((member) =>
          h('li', { class: member.name === this.#field ? 'aim' : null, 'data-field': member.name },
            h('div', { class: 'row' }, this.#signature(member), type.fields && !type.name.startsWith('__')
              && h('button', { test: 'insert-field', 'aria-label': `Insert ${member.name} into the document`,
                onclick: () => this.#insert(type, member) }, 'Insert')),
            prose(member), member.args?.map(({ name, description }) =>
              description && h('p', { class: 'quiet' }, `${name}: ${shown(description, 400)}`))))),
        names('Used by', this.#usesOf(type.name)))]);
    this.#page.querySelector('.aim')?.scrollIntoView({ block: 'center' });
  }
  #signature(/** @type {Field} */ { name, args = [], type, defaultValue }) {
    const value = (text) => (text ? ` = ${shown(text, 80)}` : '');
    const list = args.map((argument, index) =>
      [index > 0 && ', ', `${argument.name}: `, this.#link(argument.type), value(argument.defaultValue)]);
    return h('span', { class: 'signature grow' }, h('strong', {}, name), args.length > 0 && ['(', list, ')'],
      type && [': ', this.#link(type)], value(defaultValue));
  }
  #usesOf(/** @type {string} */ name) {
    return [...this.#types.values()].flatMap((other) => [
      ...membersOf(other).filter((member) => (member.type && named(member.type) === name)
        || member.args?.some((each) => named(each.type) === name)).map((member) => `${other.name}.${member.name}`),
      ...(other.kind === 'UNION' && other.possibleTypes?.some((each) => each.name === name) ? [other.name] : []),
    ]).filter((use) => !use.startsWith('__'));
  }

  /** What to ask of a type when nothing is said: its scalars; where it has none of interest, what it leads to.
   *  @returns {string} */
  #selection(/** @type {string} */ name, depth = 4) {
    const { kind, fields = [] } = this.#types.get(name) ?? {};
    if (kind === 'SCALAR' || kind === 'ENUM') return '';
    const wanted = (fields ?? []).filter(({ args, isDeprecated }) => !isDeprecated && !args?.some(isNeeded));
    const isPlain = ({ type }) => ['SCALAR', 'ENUM'].includes(this.#types.get(named(type))?.kind);
    const scalars = wanted.filter((field) => isPlain(field) && !['clientMutationId', 'cursor'].includes(field.name));
    const ways = depth > 0 && (!scalars.length || wanted.some((field) => field.name === 'node'))
      ? wanted.filter((field) => !isPlain(field) && field.name !== 'pageInfo').slice(0, 2) : [];
    const parts = [...scalars.slice(0, 8).map((field) => field.name),
      ...ways.map((field) => field.name + this.#selection(named(field.type), depth - 1))];
    return ` { ${parts.join(' ') || '__typename'} }`;
  }
  /** A value to begin with.
   *  @returns {any} */
  #sample(/** @type {TypeReference | undefined} */ type, depth = 4) {
    const of = type?.kind === 'NON_NULL' ? type.ofType : type;
    if (of?.kind === 'LIST') return [];
    const { kind, enumValues, inputFields = [] } = this.#types.get(of?.name ?? '') ?? {};
    if (kind === 'ENUM') return enumValues[0]?.name;
    if (kind === 'INPUT_OBJECT') return Object.fromEntries(depth > 0
      ? inputFields.filter(isNeeded).map((field) => [field.name, this.#sample(field.type, depth - 1)]) : []);
    return { Int: 0, Float: 0, Boolean: false }[of?.name ?? ''] ?? '';
  }
  /** A root field becomes an operation of its own, in a new tab; another is written at the caret. */
  #insert(/** @type {any} */ type, /** @type {Field} */ { name, args = [], type: result }) {
    const needed = args.filter(isNeeded);
    const list = (each) => (needed.length ? `(${needed.map(each).join(', ')})` : '');
    const call = `${name}${list((argument) => `${argument.name}: $${argument.name}`)}${this.#selection(named(result))}`;
    const root = ['query', 'mutation', 'subscription'][this.#roots.indexOf(type.name)];
    if (!root) return explorer().operations.insert(call);
    const title = `${name[0]?.toUpperCase()}${name.slice(1)}`;
    const variables = Object.fromEntries(needed.map((argument) => [argument.name, this.#sample(argument.type)]));
    const definitions = list((argument) => `$${argument.name}: ${written(argument.type)}`);
    const isOpen = explorer().operations.open(`${root} ${title}${definitions} {\n  ${call}\n}\n`,
      needed.length ? JSON.stringify(variables, null, 2) : '');
    if (isOpen) place.go('operations');
  }
}
/** @returns {any[]} */
const membersOf = (/** @type {any} */ type) =>
  [...type.fields ?? [], ...type.inputFields ?? [], ...type.enumValues ?? [],
    ...(type.kind === 'DIRECTIVE' ? type.args : [])];

// MARK: Lists from the log

/** Lines that an address answers page by page. Who has it asks for more; there is one question at a time, and no more
 *  than `most` lines. */
class Paged {
  /** @type {any[]} */ lines = [];
  /** Where it goes on; empty where it ends. */ next = '';
  #isReading = false;
  #newest = new Newest();
  #most;
  #take;
  constructor(/** @type {number} */ most, take = (/** @type {any[]} */ lines) => lines) {
    [this.#most, this.#take] = [most, take];
  }

  /** Begins with what is there already. */
  begin(/** @type {any[]} */ lines, /** @type {string} */ next) {
    this.#newest.cancel();
    this.#isReading = false;
    [this.lines, this.next] = [lines, next];
  }
  get isFull() { return this.lines.length >= this.#most; }
  /** Reads on, if there is more, there is room, and nobody does so already. */
  read(/** @type {() => void} */ done, /** @type {(message: string) => void} */ failed, least = 0) {
    const { next: from } = this;
    if (!from || this.isFull || this.#isReading) return;
    this.#isReading = true;
    this.#newest.run(async (signal) => {
      const { lines, next } = await linesOf(from, {}, signal, least);
      this.#isReading = false;
      [this.lines, this.next] = [[...this.lines, ...this.#take(lines)], next];
      done();
    }, (message) => { this.#isReading = false; failed(message); });
  }
}

/** How a list from the log is shown: what stands above it, each of its items, and where all of it is to be had. An item
 *  is a line, or what `itemsOf` finds in one.
 *  @typedef {{ title: (count: string) => any, item: (item: any) => any, test: string, none: string, path: string,
 *    parameters: object, itemsOf?: (line: any) => any[] }} Listing */

/** A box for what somebody asks of the log: what it changed, what if, blame, a comparison. It shows a page, and has
 *  "More", and all as a file. It is hidden until it is asked, and asks nothing by itself. */
class Lines extends HTMLElement {
  #asking = new Newest();
  #paged = new Paged(bounds.lines);
  /** How many of them are in the page: an event may have thousands of changes. */ #most = 100;

  clear() {
    this.#asking.cancel();
    this.#paged.begin([], '');
    this.hidden = true;
    draw(this, '', () => []);
  }
  /** Asks for the first page. */
  ask(/** @type {Listing} */ listing) {
    this.#paged.begin([], '');
    this.hidden = false;
    this.#say(listing, h('p', { class: 'quiet' }, 'Asking…'));
    this.#asking.run(async (signal) => {
      const { lines, next } = await linesOf(listing.path, { ...listing.parameters, limit: 100 }, signal, 1);
      this.show(listing, lines, next);
    }, (message) => this.#say(listing, failure(message)));
  }
  /** Shows lines that are there; `next` has more. */
  show(/** @type {Listing} */ listing, /** @type {any[]} */ lines, /** @type {string} */ next) {
    const { itemsOf } = listing;
    const take = (lines) => (itemsOf ? lines.flatMap(itemsOf) : lines);
    this.hidden = false;
    this.#paged.begin([], '');
    this.#paged = new Paged(bounds.lines, take);
    this.#paged.begin(take(lines), next);
    this.#most = 100;
    this.#draw(listing);
  }
  #say(/** @type {Listing} */ { title }, /** @type {HTMLElement} */ what) {
    const head = title('');
    draw(this, [head.textContent, what.textContent], () => [head, what]);
  }
  #draw(/** @type {Listing} */ listing) {
    const { title, item, test, none, path, parameters, itemsOf } = listing;
    const { lines: all, next: rest, isFull } = this.#paged;
    const lines = all.slice(0, this.#most);
    const next = all.length > lines.length || (rest && !isFull);
    const more = () => {
      this.#most = Math.min(this.#most + 100, bounds.lines);
      if (all.length > lines.length) this.#draw(listing);
      else this.#paged.read(() => this.#draw(listing), tell, 1);
    };
    const file = () => saveLines(`${test}.ndjson`, path, parameters, 'line', itemsOf);
    const head = title(next || rest ? `the first ${number(lines.length)}` : number(lines.length));
    draw(this, [lines, next, head.textContent, none], () => [head,
      lines.length || next ? h('ul', { class: 'changes', test }, lines.map((line) => h('li', {}, item(line))))
        : h('p', { class: 'quiet' }, none),
      h('div', { class: 'row' },
        next && lines.length < bounds.lines && h('button', { test: 'more', onclick: more }, 'More'),
        (next || rest || lines.length > 50) && h('button', { class: 'link', onclick: file }, 'All as a file'))]);
  }
}

// MARK: Data and time

/** What Data shows: right after which event (null is the newest, whichever that is), of which type or which record, and
 *  the field whose writers are told ("*" is all of them).
 *  @typedef {{ at: number | null, type: string, record: string, field: string }} View */
const nothing = /** @type {View} */ (Object.freeze({ type: '', record: '', field: '', at: null }));
const nowOf = (/** @type {View} */ { at }) => at ?? server.head;

/** Tells Data what somebody wants: `seek` an event, `go` to another type, record or field, `find` a record's events, or
 *  `reload` because a question has changed. */
const want = (/** @type {EventTarget | null} */ from, /** @type {string} */ name, /** @type {any} */ detail = null) =>
  from?.dispatchEvent(new CustomEvent(name, { bubbles: true, detail }));
const seekLink = (/** @type {number} */ sequence) => h('button', { class: 'link', test: 'seek',
  onclick: (event) => want(event.target, 'seek', sequence) }, `event ${number(sequence)}`);

/** Where on the log the page is: a slider, a number, and what they are about. Data tells it the moment; it tells
 *  `seek`, and never moves before Data says so. */
class Timeline extends HTMLElement {
  /** @type {HTMLInputElement} */ #slider = h('input', { type: 'range', min: 1, max: 1, step: 1, value: 1,
    'aria-label': 'Event', test: 'timeline', oninput: () => want(this, 'seek', Number(this.#slider.value)) });
  /** @type {HTMLInputElement} */ #number = h('input', { type: 'number', min: 1, 'aria-label': 'Go to event',
    test: 'timeline-number', onchange: () => {
      if (this.#number.value) want(this, 'seek', Number(this.#number.value));
      this.#number.value = this.#slider.value;
    } });
  #label = h('span', { role: 'status', class: 'grow', test: 'timeline-label' });

  connectedCallback() {
    if (this.#slider.isConnected) return;
    const button = (text, label, test, to) => iconButton(text, label, test, () => want(this, 'seek', to()));
    fill(this,
      h('div', { class: 'row' }, button('|◀', 'First event', 'timeline-first', () => server.first),
        button('◀', 'The event before', 'timeline-previous', () => Number(this.#slider.value) - 1), this.#slider,
        button('▶', 'The next event', 'timeline-next', () => Number(this.#slider.value) + 1),
        h('button', { test: 'timeline-now', onclick: () => want(this, 'seek', Infinity) }, 'Now'), this.#number),
      h('div', { class: 'row' }, this.#label));
  }
  show(/** @type {View} */ view, /** @type {LogEvent | undefined} */ event) {
    const now = nowOf(view);
    const head = server.head || 1;
    this.#slider.min = this.#number.min = String(server.first);
    this.#slider.max = this.#number.max = String(head);
    this.#slider.value = String(now);
    // Not while somebody writes a number there.
    if (document.activeElement !== this.#number) this.#number.value = String(now);
    const about = event ? [`${event.kind} ${shown(event.operation ?? '', 60)}`.trim(), clock(event.time)] : [];
    this.#label.textContent = [`${view.at === null ? 'Now: ' : ''}event ${number(now)} of ${number(head)}`,
      ...about].join(', ');
    this.#slider.setAttribute('aria-valuetext', this.#label.textContent);
  }
}

const pageOfEvents = 100;
/** The events of the log, fetched in pages when they come into sight; with conditions a search, which goes backwards.
 *  Data tells it the moment; it tells `seek`, and `read` when it has learned of events. It never moves the moment. */
class EventList extends HTMLElement {
  /** @type {View} */ #view = nothing;
  /** The event of the first row. */ #first = 1;
  /** With the newest event when a page was fetched, and why some of its events cannot be read.
   *  @type {Map<number, { events: LogEvent[], head: number, problem: string }>} */ #pages = new Map();
  /** Which pages are on their way. */ #wanted = '';
  #fetching = new Newest();
  /** What a search has found, newest first; null where nothing is searched for. */
  #found = /** @type {Paged | null} */ (null);
  /** @type {Rows} */ #list = h('relay-rows', { role: 'listbox', 'aria-label': 'Events', test: 'events' });
  #problem = h('p', { class: 'bad', role: 'alert', test: 'data-problem' });
  #searched = h('p', { class: 'quiet', role: 'status', test: 'events-found' });
  #conditions = {
    kind: h('select', { 'aria-label': 'Kind of event', test: 'events-kind' },
      ['', 'genesis', 'schema', 'mutation', 'response', 'revocation', 'update'].map((kind) =>
        h('option', { value: kind }, kind || 'any kind'))),
    operation: h('input', { placeholder: 'operation', 'aria-label': 'Operation of the event',
      test: 'events-operation' }),
    record: h('input', { placeholder: 'record', 'aria-label': 'Record that the event writes', test: 'events-record' }),
    where: h('input', { placeholder: 'condition', 'aria-label': 'Condition on the event, as of relay log list --where',
      test: 'events-where' }),
  };

  connectedCallback() {
    if (this.#list.isConnected) return;
    fill(this, h('header', { class: 'conditions' }, Object.values(this.#conditions)), this.#searched, this.#problem,
      this.#list);
    this.#list.make = (sequence, index) => {
      const event = this.#found ? this.#found.lines[index] : this.eventOf(sequence);
      return event ? h('div', { title: clock(event.time) }, String(sequence), '  ',
        h('span', { class: 'quiet' }, event.kind), '  ', shown(event.operation ?? '', 60))
        : h('div', { class: 'quiet' }, `${sequence}  ${this.#pageOf(sequence)?.problem ? 'cannot be read' : '…'}`);
    };
    this.#list.isSelected = (sequence) => sequence === nowOf(this.#view);
    for (const name of ['open', 'move'])
      this.#list.addEventListener(name, (/** @type {any} */ { detail }) => want(this, 'seek', detail));
    this.#list.addEventListener('seen', (/** @type {any} */ { detail }) => this.#need(detail));
    for (const field of Object.values(this.#conditions)) field.addEventListener('change', () => this.#search());
  }
  /** Goes to a moment, and grows with the log. */
  show(/** @type {View} */ view, isRevealed = false) {
    const isOther = view.at !== this.#view.at;
    this.#view = view;
    if (!this.#found) this.#grow();
    if (isOther) this.#list.refresh();
    if (isRevealed && !this.#found) this.#list.reveal(nowOf(view) - this.#first, true);
  }
  /** What is known of an event. */
  eventOf(/** @type {number} */ sequence) {
    return this.#pageOf(sequence)?.events.find((event) => event.sequence === sequence);
  }
  #pageOf(/** @type {number} */ sequence) {
    return this.#pages.get(Math.floor((sequence - this.#first) / pageOfEvents));
  }
  /** Searches for the events that write a record. */
  find(/** @type {string} */ record) { this.#conditions.record.value = record; this.#search(); }
  forget() {
    this.#stop();
    this.#pages.clear();
    for (const field of Object.values(this.#conditions)) field.value = '';
  }

  #grow() {
    const { first, head } = server;
    const count = Math.max(0, (head || 1) - first + 1);
    if (first !== this.#first) this.#pages.clear();
    else if (this.#list.count === count) return;
    this.#first = first;
    const { isAtEnd } = this.#list;
    this.#list.show(count, (index) => first + index);
    // Whoever looks at the newest goes on to do so.
    if (this.#view.at === null && isAtEnd) this.#list.reveal(count - 1);
  }
  /** Fetches the pages of events that are in sight, and those again that have become longer. */
  #need(/** @type {{ first: number, last: number }} */ { first: from, last }) {
    if (this.#found) { if (last > this.#found.lines.length - 20) this.#searchMore(this.#found); return; }
    /** @type {number[]} */ const missing = [];
    /** @type {Set<string>} */ const problems = new Set();
    for (let page = Math.floor(from / pageOfEvents); page * pageOfEvents < last; page += 1) {
      const there = this.#pages.get(page);
      const isWhole = there && there.head >= this.#first + (page + 1) * pageOfEvents - 1;
      if (!there || (!isWhole && there.head < server.head)) missing.push(page);
      if (there?.problem) problems.add(there.problem);
    }
    if (!missing.length) { this.#say([...problems].join(' ')); return; }
    const wanted = `${missing.join()} of ${server.head}`;
    if (wanted === this.#wanted) return;
    this.#wanted = wanted;
    this.#fetching.run(async (signal) => {
      for (const page of missing) await this.#fetch(page, signal);
      this.#wanted = '';
      this.#list.refresh();
      want(this, 'read');
    }, (message) => {
      this.#problem.textContent = message;
      setTimeout(() => { this.#wanted = ''; this.#list.refresh(); }, 2_000);
    }, 40);
  }
  async #fetch(/** @type {number} */ page, /** @type {AbortSignal} */ signal) {
    const { head } = server;
    const start = this.#first + page * pageOfEvents;
    const most = Math.min(pageOfEvents, head - start + 1);
    /** @type {LogEvent[]} */ const lines = [];
    /** Up to an event that cannot be read. */
    const read = (/** @type {object} */ from) => linesOf('/log/events', { ...from, limit: pageOfEvents }, signal,
      lines.length + most, lines).then(() => '', (error) => {
      if (error.status === 500) return messageOf(error);
      throw error;
    });
    const problem = await read({ after: start - 1 });
    if (problem) await read({ before: start + most });
    const found = new Map(lines.map((event) => [event.sequence, event]));
    const events = [...found.values()].filter(({ sequence }) => sequence >= start && sequence < start + pageOfEvents);
    this.#pages.delete(page);
    this.#pages.set(page, { events, head, problem });
    const [oldest = page] = this.#pages.keys();
    if (this.#pages.size > bounds.pagesOfEvents) this.#pages.delete(oldest);
  }

  /** What cannot be read; the same is not said twice. */
  #say(/** @type {string} */ problem) {
    if (this.#problem.textContent !== problem) this.#problem.textContent = problem;
  }
  #stop() {
    this.#fetching.cancel();
    this.#found?.begin([], '');
    this.#found = null;
    this.#wanted = this.#problem.textContent = this.#searched.textContent = '';
    // Whatever comes now is another list.
    this.#list.count = -1;
  }
  #search() {
    this.#stop();
    const conditions = Object.entries(this.#conditions).map(([name, { value }]) => [name, value.trim()]);
    if (!conditions.some(([, value]) => value)) return want(this, 'read');
    const query = new URLSearchParams([...conditions, ['before', String(server.head + 1)],
      ['limit', String(pageOfEvents)]]);
    const take = (lines) => lines.sort((a, b) => b.sequence - a.sequence);
    const found = this.#found = new Paged(bounds.foundEvents, take);
    found.begin([], `/log/events?${query}`);
    this.#searchMore(found);
  }
  /** Goes on with the search. A page that found nothing says no more than that it has been looked at. */
  #searchMore(/** @type {Paged} */ found) {
    const say = (...more) => {
      this.#searched.textContent = joined(`${counted(found.lines.length, 'event')} found`, ...more);
    };
    if (found.next && !found.isFull) say('searching…');
    found.read(() => {
      const back = new URLSearchParams(found.next.split('?')[1]).get('before');
      say(found.isFull ? 'search for fewer to see others' : found.next && `searched back to event ${back}`);
      this.#list.show(found.lines.length, (index) => found.lines[index]?.sequence);
      // With few rows nobody scrolls.
      if (this.offsetParent && found.lines.length < 20) this.#searchMore(found);
    }, (message) => {
      found.begin(found.lines, '');
      this.#problem.textContent = message;
      say('the search has ended');
    });
  }
}

/** The types and how many records each has. Data tells it the moment; it tells `go`. */
class TypeList extends HTMLElement {
  /** @type {Map<string, number>} */ #counts = new Map();
  #chosen = '';
  #list = h('div', { class: 'types', test: 'types' });

  connectedCallback() { this.append(this.#list); }
  load(/** @type {View} */ view, /** @type {AbortSignal} */ signal) {
    return attempt(this.#list, signal, async () => {
      const { lines } = await linesOf('/explorer/types', { at: view.at }, signal);
      this.#counts = new Map(lines.map(({ type, count }) => [type, count]));
      this.choose(view.type || (view.record ? '' : this.first));
    });
  }
  get first() { return [...this.#counts.keys()][0] ?? ''; }
  countOf(/** @type {string} */ type) { return this.#counts.get(type) ?? 0; }
  choose(/** @type {string} */ chosen) {
    const types = [...this.#counts];
    draw(this.#list, [types, chosen], () => (types.length ? types.map(([type, count]) =>
      h('button', { test: 'type', 'data-type': type, 'aria-pressed': type === chosen,
        onclick: () => want(this, 'go', { type, record: '', field: '' }) },
      h('span', {}, shown(type, 60)), h('span', { class: 'quiet' }, number(count))))
      : h('p', { class: 'quiet' }, 'No records.')));
  }
  forget() { this.#counts.clear(); draw(this.#list, '', () => []); }
}

/** The records of a type: sorted, filtered, read on at its end, with what differs from the moment before marked. Data
 *  tells it the moment; it tells `go` and `reload`. Whoever reads beyond the first page is never thrown back. */
class RecordTable extends HTMLElement {
  /** @type {View} */ #view = nothing;
  /** How many records the type has. */ #count = 0;
  #records = new Paged(bounds.rowsOfTable);
  /** Of which event they are, and the answer to which question. */ #of = 0;
  #question = '';
  #columns = /** @type {string[]} */ ([]);
  /** The records that were shown at the moment before, and whether these were all. */
  #before = { isWhole: false, fields: /** @type {Map<string, any>} */ (new Map()) };
  /** @type {Rows} */ #list = h('relay-rows', { role: 'grid', 'aria-label': 'Records', test: 'table' });
  #title = h('h2', { test: 'table-title' });
  #about = h('span', { class: 'quiet', test: 'table-count' });
  #catchUp = h('button', { test: 'table-now', hidden: true, onclick: () => {
    // What is new is at the top.
    this.#list.active = 0;
    this.#list.reveal(0);
    want(this, 'reload');
  } }, 'Show now');
  /** @type {HTMLSelectElement} */ #order = h('select', { 'aria-label': 'Order', test: 'table-order',
    onchange: () => want(this, 'reload') },
  h('option', { value: 'newest' }, 'newest first'), h('option', { value: 'oldest' }, 'oldest first'));
  /** @type {HTMLSelectElement} */ #by = h('select', { 'aria-label': 'Field to filter by', test: 'table-field',
    onchange: () => want(this, 'reload') }, h('option', { value: '' }, 'no filter'));
  /** @type {HTMLInputElement} */ #equals = h('input', { placeholder: 'value', 'aria-label': 'Value of the field',
    test: 'table-value', onchange: () => want(this, 'reload') });
  #header = h('header', {}, this.#title, this.#about, this.#catchUp, h('span', { class: 'grow' }), this.#order,
    h('span', { class: 'row narrow' }, this.#by, this.#equals));

  constructor() {
    super();
    this.#list.make = (row) => this.#make(row);
    this.#list.key = ({ id }) => id;
    this.#list.addEventListener('open', (/** @type {any} */ { detail: { id } }) => want(this, 'go', { record: id }));
    this.#list.addEventListener('seen', (/** @type {any} */ { detail }) => {
      if (detail.last > this.#records.lines.length - 30) this.#records.read(() => this.#draw(), tell);
    });
  }
  /** Shows the table at a moment; if it only follows the log, not to somebody who has read on. */
  load(/** @type {View} */ view, /** @type {number} */ count, /** @type {AbortSignal} */ signal,
    /** @type {boolean} */ isFollowing) {
    return attempt(this, signal, async () => {
      if (view.type !== this.#view.type) this.#by.value = '';
      [this.#view, this.#count] = [view, count];
      if (!view.type)
        return draw(this, 'nothing', () => h('p', { class: 'empty' }, 'Nothing is stored at this event.'));
      const field = this.#by.value;
      const parameters = { type: view.type, order: this.#order.value, limit: 100,
        ...(field && { field, value: valueTyped(this.#equals.value) }) };
      const question = JSON.stringify(parameters);
      const isSame = question === this.#question;
      const { lines: before, next: rest } = this.#records;
      if (isFollowing && isSame && before.length > parameters.limit) return this.#draw();
      this.#records.begin(before, rest);
      const of = nowOf(view);
      const { lines, next } = await linesOf('/explorer/records', { ...parameters, at: view.at }, signal);
      this.#before = { isWhole: isSame && !rest,
        fields: new Map(isSame ? before.map(({ id, fields }) => [id, fields]) : []) };
      [this.#question, this.#of] = [question, of];
      this.#records.begin(lines, next);
      this.#draw();
    });
  }
  /** Something else is shown in its place. */
  leave() {
    [this.#question, this.#before] = ['', { isWhole: false, fields: new Map() }];
    this.#records.begin([], '');
    draw(this, '', () => []);
  }

  #draw() {
    const { lines: rows, next, isFull } = this.#records;
    const field = this.#by.value;
    const fields = [...new Set(rows.slice(0, 1_000).flatMap((row) => Object.keys(row.fields)))];
    const isBehind = this.#view.at === null && rows.length > 100 && this.#of < server.head;
    this.#columns = fields.slice(0, bounds.columns);
    const choices = [...new Set([...fields, ...(field ? [field] : [])])];
    draw(this.#by, choices, () => [h('option', { value: '' }, 'no filter'),
      choices.map((each) => h('option', { value: each }, shown(each, 60)))]);
    this.#by.value = field;
    this.#title.textContent = shown(this.#view.type, 60);
    this.#catchUp.hidden = !isBehind;
    this.#about.textContent = joined(
      field ? `${number(rows.length)}${next ? '+' : ''} of ${number(this.#count)} match`
        : counted(this.#count, 'record'),
      isFull && 'filter to see others', isBehind && `as of event ${number(this.#of)}`,
      fields.length > bounds.columns && `${bounds.columns} of ${fields.length} fields`);
    draw(this, 'table', () => [this.#header, this.#list]);
    this.#list.head = this.#cells(h('div', { role: 'row', 'aria-rowindex': 1 },
      ['id', ...this.#columns].map((column) => h('span', { role: 'columnheader' }, shown(column, 60)))));
    this.#list.show(rows.length, (index) => rows[index]);
  }
  #cells(/** @type {HTMLElement} */ row) {
    row.classList.add('cells');
    row.style.gridTemplateColumns = `190px repeat(${Math.max(0, this.#columns.length - 1)}, 170px) minmax(170px, 1fr)`;
    return row;
  }
  #make(/** @type {StoredRecord} */ { id, fields }) {
    const before = this.#before.fields.get(id);
    const isNew = !before && this.#before.isWhole ? 'added' : null;
    return this.#cells(h('div', { class: isNew, 'data-mark': isNew, 'data-record': id },
      h('span', { role: 'gridcell' }, shown(id, 60), marked(isNew)),
      this.#columns.map((column) => {
        const mark = before && !same(before[column], fields[column]) ? 'changed' : null;
        return h('bdi', { role: 'gridcell', class: `${mark ?? ''} value-${typeOf(fields[column])}`, 'data-mark': mark },
          column in fields ? brief(fields[column], 120) : '', marked(mark));
      })));
  }
}
/** What was typed, as JSON in the form of a record; what is no JSON is text. */
function valueTyped(/** @type {string} */ text) {
  try {
    const value = parsed(text);
    const isStored = !isObject(value) || ['ref', 'refs', 'value'].some((name) => name in value);
    return JSON.stringify(isStored ? value : { value });
  } catch { return JSON.stringify(text.replace(/^→ /, '')); }
}

/** One record: its fields and links, with what differs from the moment before marked. Data tells it the moment; it
 *  tells `go` and `find`. It never says who wrote a field: that stands beside it. */
class RecordPage extends HTMLElement {
  /** What was shown at the moment before. */ #before = { id: '', fields: /** @type {any} */ (undefined) };
  /** The type of the record, as far as it is known. */ type = '';

  load(/** @type {View} */ view, /** @type {AbortSignal} */ signal) {
    this.type = view.type;
    return attempt(this, signal, async () => {
      const id = view.record;
      const { lines: [record] } = await linesOf('/explorer/records', { id, at: view.at }, signal);
      const before = this.#before.id === id ? this.#before.fields : undefined;
      this.#before = { id, fields: record?.fields };
      if (record) this.type = record.type;
      const fields = Object.entries(record?.fields ?? {}).map(([field, value]) =>
        ({ field, value, mark: before && !same(before[field], value) ? 'changed' : null }));
      draw(this, [id, this.type, record ? fields : nowOf(view)], () => [this.#header(id),
        h('div', { class: 'body', tabindex: 0, role: 'group', 'aria-label': `Record ${shown(id, 80)}` },
          record ? this.#table(id, fields) : h('p', { class: 'empty', test: 'record-missing' },
            `This record does not exist at event ${number(nowOf(view))}.`))]);
    });
  }
  /** Something else is shown in its place. */
  leave() {
    this.#before = { id: '', fields: undefined };
    draw(this, '', () => []);
  }

  #header(/** @type {string} */ id) {
    const button = (text, test, onclick) => h('button', { test, onclick }, text);
    const history = () => saveLines(`${id}.history.ndjson`, '/log/blame', { record: id, limit: 1_000 }, 'write');
    return h('header', {},
      h('button', { class: 'bare', test: 'record-back', onclick: () => want(this, 'go', { record: '', field: '' }) },
        `‹ ${shown(this.type || 'All', 60)}`),
      h('h2', { test: 'record-title', class: 'mono' }, shown(id, 120)), h('span', { class: 'grow' }),
      button('Blame all fields', 'blame-all', () => want(this, 'go', { record: id, field: '*' })),
      button('Its events', 'record-events', () => want(this, 'find', id)),
      button('Export its history', 'export', history));
  }
  #table(/** @type {string} */ id, /** @type {{ field: string, value: any, mark: string | null }[]} */ fields) {
    const head = (...text) => h('th', { scope: 'col' }, ...text);
    return h('table', { test: 'record' },
      h('thead', {}, h('tr', {}, head('Field'), head('Value'), head(h('span', { class: 'seen-by-readers' }, 'Blame')))),
      h('tbody', {}, fields.map(({ field, value, mark }) =>
        h('tr', { class: mark, 'data-mark': mark, 'data-field': field },
          h('th', { scope: 'row' }, h('bdi', {}, shown(field, 80)), marked(mark)), h('td', {}, this.#value(value)),
          h('td', {}, h('button', { class: 'bare', test: 'blame-field', 'aria-label': `Blame ${shown(field, 80)}`,
            onclick: () => want(this, 'go', { record: id, field }) }, 'Blame'))))));
  }
  /** A value of a record, with its links as links. */
  #value(/** @type {any} */ value) {
    const link = (id) => (typeof id !== 'string' ? h('span', { class: 'quiet' }, 'null')
      : h('button', { class: 'link mono', test: 'record-link',
        onclick: () => want(this, 'go', { record: id, type: '', field: '' }) }, h('bdi', {}, shown(id, 80))));
    if (typeof value?.ref === 'string') return link(value.ref);
    if (Array.isArray(value?.refs)) {
      const most = 50;
      return h('div', {}, value.refs.length ? value.refs.slice(0, most).map((id) => h('div', {}, link(id)))
        : h('span', { class: 'quiet' }, 'no links'),
      value.refs.length > most && h('span', { class: 'quiet' }, `and ${number(value.refs.length - most)} more`));
    }
    const whole = typeof value === 'string' ? value : JSON.stringify(value, null, 2) ?? 'nothing';
    return h('span', {}, h('bdi', { class: `mono value-${typeOf(value)}` }, brief(value)), showAll('Value', whole));
  }
}

/** What an event, or the way from one point to another, does to a field. */
const changeItem = ({ record = '', field = '', before, after, change }) => [
  h('button', { class: 'link mono', title: 'Blame this field', test: 'change', onclick: (event) =>
    want(event.target, 'go', { record, type: '', field: field === '__typename' ? '*' : field }) },
  h('bdi', {}, `${shown(record, 60)}.${shown(field, 60)}`)), h('br'),
  change ? h('bdi', { class: 'mono' }, spliced(change.splice))
    : [h('bdi', { class: 'mono quiet' }, brief(before)), ' → ',
      h('bdi', { class: `mono value-${typeOf(after)}` }, brief(after))]];
/** Who wrote a field of a record, or all of them.
 *  @returns {Listing} */
function blameOf(/** @type {View} */ { record, field }) {
  const isAll = field === '*';
  const name = `${shown(record, 60)}${isAll ? '' : `.${shown(field, 60)}`}`;
  return { test: 'blame-list', none: 'Nobody has written it.', path: '/log/blame',
    parameters: { record, field: isAll ? undefined : field },
    title: () => h('h2', { test: 'blame-title' }, `Who wrote ${name}`),
    item: ({ sequence, time, operation = '', viewer, optimistic, field: of = '', value, change }) => [
      seekLink(sequence), h('span', { class: 'quiet' }, ` ${clock(time)} ${shown(operation, 60)}`,
        viewer && ` by ${shown(viewer, 60)}`, optimistic && ' (optimistic)'),
      h('br'), isAll && h('bdi', { class: 'mono quiet' }, `${shown(of, 60)} `),
      h('bdi', { class: 'mono' }, change ? spliced(change.splice) : brief(value))] };
}

/** The event of the moment: who asked for what, what it changed, and, when somebody asks, what would be different
 *  without it. Data tells it the moment; it tells `seek` and `go`. */
class EventBox extends HTMLElement {
  /** @type {View} */ #view = nothing;
  #about = h('div', {});
  /** @type {Lines} */ #changes = h('relay-lines', {});
  #ask = h('button', { test: 'what-if-run', onclick: () => this.#whatIf() }, 'What if it had never been?');
  /** @type {Lines} */ #different = h('relay-lines',
    { 'aria-label': 'What if', role: 'region', test: 'what-if', hidden: true });

  connectedCallback() {
    if (this.#about.isConnected) return;
    fill(this, h('section', { 'aria-label': 'Event', test: 'event' }, this.#about, this.#changes,
      h('div', { class: 'row' }, this.#ask)), this.#different);
  }
  load(/** @type {View} */ view, /** @type {AbortSignal} */ signal) {
    return attempt(this.#about, signal, async () => {
      const sequence = nowOf(this.#view = view);
      this.#ask.hidden = !sequence;
      if (!sequence) return;
      const { lines, next } = await linesOf('/log/event', { sequence, limit: 500 }, signal).catch((error) => {
        if (!signal.aborted) this.#changes.clear();
        throw error;
      });
      this.#draw(lines[0]);
      this.#changes.show({ title: () => h('h3', {}, 'What it changed'), item: changeItem, test: 'changes',
        none: 'changes' in (lines[0] ?? {}) ? 'Nothing.' : 'Unknown: the state before the event cannot be rebuilt.',
        path: '/log/event', parameters: { sequence, limit: 500 }, itemsOf: ({ changes = [] }) => changes },
      lines, next);
    });
  }
  /** Another event is looked at: gives up what was said of one that had never been. */
  leave() { this.#different.clear(); }
  forget() {
    this.leave();
    this.#changes.clear();
    draw(this.#about, '', () => []);
  }

  #draw(/** @type {any} */ { sequence, kind, operation = '', time, viewer, mutationId, mutation, arguments: given }) {
    draw(this.#about, [sequence, kind, operation, time, given], () => [
      h('h2', { test: 'event-title' }, `Event ${number(sequence)}: ${kind}${operation && ` ${shown(operation, 80)}`}`),
      h('p', { class: 'quiet' },
        joined(clock(time), viewer && `by ${shown(viewer, 80)}`, mutationId && `id ${shown(mutationId, 80)}`)),
      mutation && h('p', {}, 'Asked for by ', seekLink(mutation)),
      given && h('p', {}, h('span', { class: 'quiet' }, 'Arguments '),
        h('bdi', { class: 'mono' }, shown(JSON.stringify(given))),
        showAll('Arguments', JSON.stringify(given, null, 2)))]);
  }
  #whatIf() {
    const sequence = nowOf(this.#view);
    this.#different.ask({ item: changeItem, test: 'what-if-changes', none: 'Nothing would be different.',
      title: () => h('h3', {}, `Now, without event ${number(sequence)}: every other event as it was`),
      path: '/explorer/what-if', parameters: { skip: sequence } });
  }
}

/** Which fields differ between two events, of the record that is looked at, or of all. Data tells it the moment, from
 *  which it begins; it tells `go`. */
class Comparison extends HTMLElement {
  /** @type {View} */ view = nothing;
  /** @type {HTMLInputElement} */ #a = h('input',
    { type: 'number', min: 0, 'aria-label': 'From event', test: 'diff-a' });
  /** @type {HTMLInputElement} */ #b = h('input', { type: 'number', min: 0, 'aria-label': 'To event', test: 'diff-b' });
  /** @type {Lines} */ #different = h('relay-lines', { test: 'diff' });

  connectedCallback() {
    if (this.#a.isConnected) return;
    fill(this, h('details', { test: 'compare' }, h('summary', {}, 'Compare two events'),
      h('div', { class: 'row narrow' }, this.#a, 'to', this.#b,
        h('button', { test: 'diff-run', onclick: () => this.#compare() }, 'Compare')), this.#different));
  }
  forget() { this.#different.clear(); }
  #compare() {
    const { at, record } = this.view;
    this.#a.value ||= String(at ?? server.first);
    this.#b.value ||= String(server.head);
    this.#different.ask({ item: changeItem, test: 'diff-changes', none: '',
      title: (count) => h('p', { class: 'quiet' }, `${record && `${shown(record, 60)}: `}${
        count === '1' ? '1 field differs' : `${count || '…'} fields differ`}.`),
      path: '/log/diff', parameters: { a: this.#a.value, b: this.#b.value, record } });
  }
}

/** What a query from the tabs of Operations answers as of the moment, with what differs from the moment before marked.
 *  Data tells it the moment; it tells `reload`. It never carries out anything but a query: of what the server says is
 *  one, and with `at` the server refuses everything else. */
class PastQuery extends HTMLElement {
  #answer = /** @type {any} */ (undefined);
  /** @type {HTMLSelectElement} */ #choice = h('select', { 'aria-label': 'Document', test: 'past-document',
    onchange: () => { this.#answer = undefined; want(this, 'reload'); } });
  #note = h('p', { class: 'quiet', role: 'status' });
  /** @type {Tree} */ #tree = h('relay-tree', { label: 'Result at this event' });
  /** @type {HTMLDetailsElement} */ #details = h('details',
    { test: 'past-query', ontoggle: () => this.#details.open && want(this, 'reload') },
    h('summary', {}, 'A query at this event'), h('div', { class: 'row' }, this.#choice), this.#note,
    h('div', { class: 'tall' }, this.#tree));

  connectedCallback() { this.append(this.#details); }
  async load(/** @type {View} */ view, /** @type {AbortSignal} */ signal) {
    try {
      if (this.#details.open) await this.#show(view, signal);
    } catch (error) { if (!signal.aborted) this.#note.textContent = messageOf(error); }
  }
  forget() { this.#answer = undefined; this.#tree.show(undefined); }

  /** The queries of all tabs, and which of them is chosen. */
  async #offer(/** @type {AbortSignal} */ signal) {
    const offered = (await Promise.all(explorer().operations.tabs.map(async ({ id, text, variables }) => {
      const queries = ((await operationsOf(text)) ?? []).filter(({ kind, live }) => kind === 'query' && !live);
      return queries.map(({ name, field = 'query' }) =>
        ({ key: `${id} ${name ?? ''}`, text, variables, name, title: shown(name ?? field, 60) }));
    }))).flat();
    signal.throwIfAborted();
    const chosen = offered.find(({ key }) => key === this.#choice.value) ?? offered[0];
    draw(this.#choice, offered.map(({ key, title }) => [key, title]),
      () => offered.map(({ key, title }) => h('option', { value: key }, title)));
    if (chosen) this.#choice.value = chosen.key;
    return chosen;
  }
  async #show(/** @type {View} */ view, /** @type {AbortSignal} */ signal) {
    const chosen = await this.#offer(signal);
    if (!chosen) { this.#note.textContent = 'No tab of Operations has a query.'; return; }
    const variables = variablesOf(chosen.variables, (wrong) => { this.#note.textContent = wrong; });
    const at = nowOf(view);
    if (!variables || !at) return;
    const result = resultOf(await server.ask({ query: chosen.text, variables,
      ...(chosen.name && { operationName: chosen.name }), extensions: { relay: { at } } }, signal));
    this.#tree.show(result, ...(this.#answer === undefined ? [] : [this.#answer]));
    this.#answer = result;
    this.#note.textContent = `As of event ${number(at)}${view.at === null ? ', now' : ''}.`;
  }
}

/** What is stored, at any event of the log. It has the moment, follows the log where that is the newest event, and
 *  hands it to its parts; what these want (`seek`, `go`, `find`, `reload`) it does. It shows nothing by itself. */
class Data extends HTMLElement {
  /** @type {View} */ #view = nothing;
  /** Which log that is of. */ #log = '';
  #loading = new Newest();
  /** @type {Timeline} */ #timeline = h('relay-timeline',
    { class: 'panel timeline', role: 'region', 'aria-label': 'Timeline' });
  /** @type {TypeList} */ #types = h('relay-types', { class: 'panel', role: 'region', 'aria-label': 'Types' });
  /** @type {EventList} */ #events = h('relay-events',
    { class: 'panel lists', role: 'region', 'aria-label': 'Events' });
  #records = h('section', { class: 'stack-of', 'aria-label': 'Records', test: 'records' });
  /** @type {RecordTable} */ #table = h('relay-table', { class: 'panel lists' });
  /** @type {RecordPage} */ #page = h('relay-record', { class: 'panel' });
  /** @type {EventBox} */ #event = h('relay-event');
  /** @type {Lines} */ #blame = h('relay-lines',
    { 'aria-label': 'Blame', role: 'region', test: 'blame', hidden: true });
  /** @type {Comparison} */ #comparison = h('relay-comparison');
  /** @type {PastQuery} */ #query = h('relay-past-query');
  /** How far the log has come is in every result; where nothing else asks, this does. */
  #pulse = unlessBusy(async () => {
    if (!this.hidden && !document.hidden && server.state === 'open') await server.pulse();
  });
  /** Shows the newest event, one load after the other however fast the log grows. */
  #follow = onceMore(async () => { if (this.#view.at === null && !this.hidden) await this.load(60, true); });
  /** Keeps the moment in the address, so that it can be sent to somebody else. */
  #remember = later(() => !this.hidden && history.replaceState(null, '', place.text('data', this.#view)), 250);

  connectedCallback() {
    if (this.#timeline.isConnected) return;
    this.className = 'data';
    fill(this, this.#timeline, h('div', { class: 'stack-of left' }, this.#types, this.#events), this.#records,
      h('section', { class: 'panel', 'aria-label': 'Event and history' },
        h('div', { class: 'body' }, this.#event, this.#blame, this.#comparison, this.#query)));
    const wishes = {
      // In the list of events one moves step by step: it stays where it is.
      seek: ({ target, detail }) => this.seek(detail, target !== this.#events),
      go: ({ detail }) => place.go('data', { type: this.#view.type, at: this.#view.at, ...detail }),
      find: ({ detail }) => this.#events.find(detail),
      reload: () => this.load(),
      read: () => this.#draw(),
    };
    for (const [name, answer] of Object.entries(wishes)) this.addEventListener(name, /** @type {any} */ (answer));
    server.addEventListener('head', () => this.#grow());
    setInterval(() => this.#pulse(), 1_000);
  }
  shown(/** @type {URLSearchParams} */ parameters) {
    const at = parameters.get('at') ?? '';
    const isEvent = /^\d{1,15}$/.test(at) && !(server.head && Number(at) > server.head);
    const type = parameters.get('type') ?? (parameters.has('record') ? '' : this.#view.type);
    this.#look({ at: isEvent ? Number(at) : null, type, record: parameters.get('record') ?? '',
      field: parameters.get('field') ?? '' });
    if (at && !isEvent) this.#remember();
    this.#draw();
    this.entered();
    if (this.#view.field) this.#blame.ask(blameOf(this.#view)); else this.#blame.clear();
  }
  entered() {
    this.#pulse();
    this.load();
  }
  /** Gives up what is of another log, or was for another viewer. */
  forget() {
    this.#loading.cancel();
    this.#look({ at: null });
    this.#blame.clear();
    for (const each of [this.#table, this.#page]) each.leave();
    for (const each of [this.#types, this.#events, this.#event, this.#comparison, this.#query]) each.forget();
    draw(this.#records, '', () => []);
    this.#draw();
  }
  /** Goes to an event, and shows everything as it was right after it. */
  seek(/** @type {number} */ sequence, isRevealed = true) {
    if (Number.isNaN(sequence) || !server.head) return;
    const at = Math.max(server.first, Math.round(Math.min(sequence, server.head)));
    this.#look({ at: at >= server.head ? null : at });
    this.#event.leave();
    this.#draw(isRevealed);
    this.#remember();
    this.load(40);
  }
  /** Loads everything that is shown, at the moment. What cannot be loaded says so in its place. */
  load(delay = 0, isFollowing = false) {
    return this.#loading.run((signal) => Promise.all([this.#loadRecords(signal, isFollowing),
      this.#event.load(this.#view, signal), this.#query.load(this.#view, signal)]), tell, delay);
  }

  #look(/** @type {Partial<View>} */ changes) { this.#view = this.#comparison.view = { ...this.#view, ...changes }; }
  #draw(isRevealed = false) {
    this.#events.show(this.#view, isRevealed);
    this.#timeline.show(this.#view, this.#events.eventOf(nowOf(this.#view)));
  }
  async #loadRecords(/** @type {AbortSignal} */ signal, /** @type {boolean} */ isFollowing) {
    const { record } = this.#view;
    await this.#types.load(this.#view, signal);
    signal.throwIfAborted();
    if (record) await this.#page.load(this.#view, signal);
    else {
      this.#look({ type: this.#view.type || this.#types.first });
      await this.#table.load(this.#view, this.#types.countOf(this.#view.type), signal, isFollowing);
    }
    signal.throwIfAborted();
    if (record && this.#page.type !== this.#view.type) {
      this.#look({ type: this.#page.type });
      this.#types.choose(this.#page.type);
    }
    const [there, other] = record ? [this.#page, this.#table] : [this.#table, this.#page];
    other.leave();
    draw(this.#records, record ? 'record' : 'table', () => there);
  }
  #grow() {
    if (server.log && this.#log !== server.log) {
      if (this.#log) { tell('The server has another log than before.'); this.forget(); }
      this.#log = server.log;
    }
    if (this.#view.at !== null && this.#view.at > server.head && server.head) this.#look({ at: null });
    if (this.hidden) return;
    this.#draw();
    this.#follow();
  }
}

// MARK: The server itself

/** @typedef {{ time: number, values: Map<string, number> }} Sample */
/** @typedef {(now: Sample, before?: Sample) => number | undefined} Measure */
/** @type {(name: string) => Measure} */
const total = (name) => ({ values }) => values.get(name);
/** @type {(name: string, factor?: number) => Measure} */
const rate = (name, factor = 1) => (now, before) => {
  const [a, b] = [before?.values.get(name), now.values.get(name)];
  return a === undefined || b === undefined || !before || b < a ? undefined
    : (b - a) / ((now.time - before.time) / 1000) * factor;
};
/** @type {(above: string, below: string, factor?: number) => Measure} */
const ratio = (above, below, factor = 1) => (now, before) => {
  const [a, b] = [rate(above)(now, before), rate(below)(now, before)];
  return a === undefined || b === undefined ? undefined : b === 0 ? 0 : a / b * factor;
};
const bytes = (/** @type {number} */ count) => {
  const power = Math.min(3, Math.floor(Math.log2(Math.max(1, count)) / 10));
  return `${(count / 1024 ** power).toFixed(power)} ${['B', 'KiB', 'MiB', 'GiB'][power]}`;
};
const plain = (/** @type {number} */ count) =>
  (count >= 100 || Number.isInteger(count) ? number(Math.round(count)) : count.toPrecision(2));
const percent = (/** @type {number} */ value) => `${value.toFixed(1)} %`;
const milliseconds = (/** @type {number} */ value) => `${value.toFixed(2)} ms`;
/** @type {[string, Measure, (value: number) => string][]} */
const plots = [
  ['Mutations a second', rate('relay_commits_total'), plain],
  ['Queries a second', rate('relay_operations_total{kind="query"}'), plain],
  ['Results sent a second', rate('relay_deliveries_total'), plain],
  ['Live executions a second', rate('relay_executions_total'), plain],
  ['Executions saved a second', rate('relay_executions_saved_total'), plain],
  ['Connections', total('relay_connections'), plain],
  ['Subscriptions', total('relay_subscriptions'), plain],
  ['Live groups', total('relay_subscription_groups'), plain],
  ['Kept for subscriptions', total('relay_subscription_bytes'), bytes],
  ['Queued for clients', total('relay_queue_bytes'), bytes],
  ['Events not yet told', total('relay_lag_events'), plain],
  ['Mutations waiting', total('relay_waiting_mutations'), plain],
  ['The writer is busy', rate('relay_fold_seconds_total', 100), percent],
  ['Processor', rate('process_cpu_seconds_total', 100), percent],
  ['A sync to the disk takes', ratio('relay_log_sync_seconds_total', 'relay_log_syncs_total', 1000), milliseconds],
  ['Appends that share a sync', total('relay_log_appends_per_sync'), plain],
  ['Waiting for the disk', total('relay_log_waiting_bytes'), bytes],
  ['Written to the log', total('relay_log_bytes_total'), bytes],
  ['Size of the log', total('relay_log_size_bytes'), bytes],
  ['Segments', total('relay_log_segments'), plain],
  ['Checkpoints', total('relay_log_checkpoints'), plain],
  ['Records', total('relay_records'), plain],
  ['Newest event', total('relay_sequence'), plain],
  ['Refused', rate('relay_refusals_total'), plain],
];

/** How the server does: plots from its metrics, while they are looked at, and what its live groups cost. */
class Health extends HTMLElement {
  /** @type {Sample[]} */ #samples = []; #newest = new Newest();
  /** @type {Map<string, Record<string, any>>} */ #figures = new Map();
  #note = h('p', { role: 'status', test: 'server-note' });
  #plots = h('div', { class: 'plots', test: 'plots' });
  #groups = h('section', { class: 'panel', 'aria-label': 'Live groups' });

  connectedCallback() {
    if (this.#plots.isConnected) return;
    this.className = 'server';
    fill(this, this.#note, this.#plots, this.#groups);
    setInterval(() => { if (!this.hidden && !document.hidden) this.#poll(); }, 2_000);
  }
  shown() { this.#poll(); }
  entered() { this.#poll(); }
  forget() {
    this.#newest.cancel();
    this.#samples = [];
    this.#figures.clear();
    fill(this.#plots);
    draw(this.#groups, '', () => []);
  }

  /** Asks, unless the last answer is still on its way. */
  #poll = unlessBusy(async () => {
    if (server.state !== 'waiting') await this.#newest.run(async (signal) => {
      await Promise.all([
        linesOf('/explorer/groups', { limit: 200 }, signal).then(({ lines, next }) => this.#drawGroups(lines, next),
          (error) => draw(this.#groups, messageOf(error), () => [h('header', {}, h('h2', {}, 'Live groups')),
            failure(messageOf(error))])),
        answerOf('/metrics', {}, signal).then(({ text }) => this.#take(text))]);
    }, (message) => { this.#note.className = 'bad'; this.#note.textContent = message; });
  });
  #take(/** @type {string} */ metrics) {
    /** @type {Map<string, number>} */ const values = new Map();
    for (const [, name, labels, count] of metrics.matchAll(/^(\w+)(\{[^}]*\})? (\S+)$/gm))
      values.set(`${name}${labels ?? ''}`, Number(count));
    this.#samples = [...this.#samples.slice(1 - bounds.samples), { time: performance.now(), values }];
    const isFull = values.get('relay_storage_full') === 1;
    this.#note.className = isFull ? 'bad' : 'quiet';
    this.#note.textContent = isFull ? 'The disk is full: mutations are refused.' : '';
    for (const plot of plots) this.#draw(plot);
  }
  #draw(/** @type {typeof plots[number]} */ [title, measure, unit]) {
    const series = this.#samples.map((sample, index) => measure(sample, this.#samples[index - 1]));
    const figures = /** @type {number[]} */ (series.filter((each) => each !== undefined));
    let drawing = this.#figures.get(title);
    if (!drawing) {
      const value = h('output', {});
      const [line, area] = [drawn('polyline', {}), drawn('polyline', { class: 'area' })];
      const svg = drawn('svg', { viewBox: '0 0 100 36', preserveAspectRatio: 'none', role: 'img' });
      svg.append(area, line);
      const figure = h('figure', { test: 'plot', 'data-plot': title }, h('figcaption', {}, title), value, svg);
      drawing = { figure, value, line, area, svg };
      this.#figures.set(title, drawing);
      this.#plots.append(figure);
    }
    // What this server does not measure is not shown.
    drawing.figure.hidden = !figures.length;
    if (!figures.length) return;
    const [most, least, newest = 0] = [Math.max(...figures, 1e-9), Math.min(...figures, 0), figures.at(-1)];
    const step = 100 / (Math.max(30, series.length) - 1);
    const across = (index) => (100 - (series.length - 1 - index) * step).toFixed(2);
    const up = (value) => (35 - (value - least) / (most - least) * 33).toFixed(2);
    const points = series.flatMap((each, index) => (each === undefined ? [] : [`${across(index)},${up(each)}`]));
    drawing.value.textContent = unit(newest);
    drawing.line.setAttribute('points', points.join(' '));
    drawing.area.setAttribute('points', [`${points[0]?.split(',')[0]},36`, ...points, '100,36'].join(' '));
    drawing.svg.setAttribute('aria-label',
      `${title}: ${unit(newest)} now, at most ${unit(most)} since this page was opened`);
  }
  #drawGroups(/** @type {any[]} */ groups, /** @type {string} */ next) {
    const cell = (text) => h('td', { class: 'number' }, text);
    draw(this.#groups, groups, () => [
      h('header', {}, h('h2', {}, 'Live groups'), h('span', { class: 'quiet' }, groups.length
        ? `${next || groups.length === 200 ? 'the first ' : ''}${number(groups.length)}, those that took longest first`
        : 'none: nobody has a live query or a subscription open')),
      groups.length > 0 && h('div', { class: 'body' }, h('table', { test: 'groups' },
        h('thead', {}, h('tr', {}, ['Operation', 'Subscribers', 'Runs', 'A run', 'All runs'].map((head, index) =>
          h('th', { scope: 'col', class: index ? 'number' : null }, head)))),
        h('tbody', {}, groups.map(({ operation, document: text, subscribers, runs, milliseconds: time }) => h('tr', {},
          h('td', {}, h('button', { class: 'link', onclick: () => showText(shown(operation, 80), text) },
            shown(operation, 80))),
          cell(number(subscribers)), cell(number(runs)), cell(`${runs ? (time / runs).toFixed(3) : '0'} ms`),
          cell(`${time.toFixed(1)} ms`))))))]);
  }
}

// MARK: The page

/** The page: its parts, the state of the connection, and the token. */
class Explorer extends HTMLElement {
  /** @type {Operations} */ operations = h('relay-operations', { hidden: true });
  #parts = /** @type {Record<string, any>} */ ({ operations: this.operations,
    schema: h('relay-schema', { hidden: true }), data: h('relay-data', { hidden: true }),
    server: h('relay-health', { hidden: true }) });
  #links = Object.entries({ operations: 'Operations', schema: 'Schema', data: 'Data', server: 'Server' })
    .map(([part, title]) => h('a', { href: `#${part}`, test: `part-${part}` }, title));
  #state = h('button', { class: 'bare connection', test: 'connection',
    onclick: () => (server.state === 'open' || (server.state === 'refused' && !server.reason) ? this.#askToken()
      : server.connect()) });
  #head = h('span', { class: 'quiet', test: 'head' });
  #told = h('span', { class: 'grow' });
  #banner = h('div', { class: 'banner', role: 'status', hidden: true, test: 'banner' }, this.#told,
    h('button', { class: 'bare', 'aria-label': 'Dismiss', onclick: () => { this.#banner.hidden = true; } }, '✕'));
  #asking = /** @type {any} */ (null); #wasGone = false; #tick = 0;

  connectedCallback() {
    fill(this,
      h('header', { class: 'top' }, h('h1', {}, 'Relay'), h('nav', { 'aria-label': 'Parts' }, this.#links),
        h('span', { class: 'grow' }), this.#head, this.#state,
        iconButton('Token', 'Token', 'token', () => this.#askToken()),
        iconButton('◐', 'Light or dark', 'theme', () => this.#turnTheme()),
        iconButton('?', 'Keys', 'keys', () => this.#showKeys())),
      this.#banner, h('main', {}, Object.values(this.#parts)));
    document.addEventListener('tell', (/** @type {any} */ { detail }) => this.#tell(detail));
    server.addEventListener('state', () => this.#drawState());
    server.addEventListener('head', () => { this.#head.textContent = `event ${number(server.head)}`; });
    server.addEventListener('other', () => { for (const part of Object.values(this.#parts)) part.forget(); });
    server.addEventListener('back', () => {
      if (this.#wasGone) this.#tell('The server is back. What was running continues.');
      this.#wasGone = false;
    });
    addEventListener('hashchange', () => this.#show());
    addEventListener('keydown', (/** @type {any} */ event) => {
      if (event.altKey && !event.ctrlKey && !event.shiftKey && /^Digit[1-4]$/.test(event.code)) {
        event.preventDefault();
        this.#links[Number(event.code.at(-1)) - 1]?.click();
      }
      if (event.key === '?' && !event.target.closest('input, textarea, dialog')) this.#showKeys();
    });
    const theme = kept.read('theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
    this.#show();
    server.connect();
  }

  #show() {
    const { part = '', parameters } = place.read();
    const name = Object.hasOwn(this.#parts, part) ? part : 'operations';
    const wasHere = document.activeElement?.closest('main');
    for (const [each, element] of Object.entries(this.#parts)) element.hidden = each !== name;
    for (const link of this.#links) {
      if (link.getAttribute('href') === `#${name}`) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
    document.title = `${name[0]?.toUpperCase()}${name.slice(1)} · Relay explorer`;
    const shownPart = this.#parts[name];
    // Whoever was in another part goes on in this one.
    if (wasHere && !shownPart.contains(document.activeElement)) {
      shownPart.tabIndex = -1;
      shownPart.focus({ preventScroll: true });
    }
    shownPart.shown(parameters);
  }
  #tell(/** @type {string} */ text) { this.#told.textContent = text; this.#banner.hidden = false; }
  #drawState() {
    clearInterval(this.#tick);
    this.#state.dataset.state = server.state;
    this.#state.textContent =
      { connecting: 'Connecting', open: 'Connected', waiting: 'Gone', refused: 'Not let in' }[server.state];
    if (server.state === 'waiting') {
      if (!this.#wasGone) this.#tell('The server is gone. This page tries to reach it again.');
      this.#wasGone = true;
      const count = () => {
        this.#state.textContent = `Gone; again in ${Math.max(0, Math.ceil((server.retryAt - Date.now()) / 1000))} s`;
      };
      this.#tick = setInterval(count, 500);
      count();
    } else if (server.state === 'refused') {
      if (server.reason) this.#tell(shown(server.reason, 400));
      else this.#askToken(server.token ? 'The server did not accept this token.' : 'This server asks for a token.');
    } else if (server.state === 'open') {
      this.#asking?.remove();
      for (const part of Object.values(this.#parts)) if (!part.hidden) part.entered?.();
    }
  }
  #askToken(why = 'The token decides who you are to this server.') {
    this.#asking?.remove();
    const field = h('input', { type: 'password', autocomplete: 'off', 'aria-label': 'Token', test: 'token-field',
      value: server.token });
    const use = () => { const given = field.value.trim(); dialog.close(); server.enter(given); };
    field.addEventListener('keydown', (event) => { if (event.key === 'Enter') use(); });
    const dialog = this.#asking = converse('Token', h('p', { test: 'token-why' }, why), field,
      h('div', { class: 'row' },
        h('span', { class: 'quiet grow' }, 'It is kept in memory only, and forgotten with this page.'),
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
    const keys = {
      'Alt+1 … Alt+4': 'Operations, Schema, Data, Server', 'Ctrl+Enter': 'Run the operation at the caret',
      'Ctrl+Space': 'What can be written here', 'Shift+Alt+F': 'Format the document',
      'Up, Down, Page Up, Page Down, Home, End': 'Move in a list or a tree',
      'Left, Right': 'Close and open a branch; on the timeline, the event before and the next',
      Enter: 'Open what is chosen: a record, an event, a whole value', Delete: 'On a tab: close it',
      Escape: 'Close suggestions or a dialog', '?': 'This list' };
    converse('Keys', h('div', { class: 'keys' },
      Object.entries(keys).map(([key, text]) => [h('kbd', {}, key), h('span', {}, text)])));
  }
}
const explorer = () => /** @type {Explorer} */ (document.querySelector('relay-explorer'));

for (const [name, element] of Object.entries({ rows: Rows, tree: Tree, editor: Editor, run: Run, operations: Operations,
  schema: Schema, lines: Lines, timeline: Timeline, types: TypeList, events: EventList, table: RecordTable,
  record: RecordPage, event: EventBox, comparison: Comparison, 'past-query': PastQuery, data: Data, health: Health,
  explorer: Explorer }))
  customElements.define(`relay-${name}`, element);
document.body.append(h('relay-explorer'));
</script>
</body>
</html>

"""#
}
