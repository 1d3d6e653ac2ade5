// SPDX-License-Identifier: MIT OR Apache-2.0
// The page: which document is looked at, and how. Everything that can be changed is in the address, so
// that a link reproduces a view.

import './style.css'
import { address, FIRST, look as readLook, type Look, type Tab } from './address'
import type { Document, Facts, RunView } from './documents'
import { h } from './dom'
import { keepFocus } from './focus'
import { certificateView, claims, footer, settingsView } from './facts'
import { number, plural, seconds, value, words } from './format'
import { keep, kept, onChange } from './host'
import { meshView, scaleOf, stop } from './mesh'
import { longest, Model } from './model'
import { causeColour, MEANINGS, type Theme } from './palette'
import { png, save, sheet, text } from './save'
import { scheduleView } from './schedule'
import { sweepView } from './sweep'
import { tabList } from './tabs'
import { describeMessage, Timeline } from './timeline'
import { titles } from './titles'

const documents = (JSON.parse(document.getElementById('documents')!.textContent ?? '') as { documents: Document[] }).documents
titles(documents).forEach((title, index) => { documents[index].title = title })
const models = new Map<number, Model>()

let look = valid(readLook(kept()))
let theme: Theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
let timeline: Timeline | null = null
/** Which runs the timeline is of. */
let shown = ''
let written = 0

function model(index: number): Model {
  const found = models.get(index) ?? new Model(documents[index] as RunView)
  models.set(index, found)
  return found
}

/** The same look with what this page does not have left out. */
function valid(asked: Look): Look {
  const doc = asked.doc < documents.length ? asked.doc : 0
  const beside = documents[asked.beside]?.view === 'run' && documents[doc].view === 'run' && asked.beside !== doc ? asked.beside : -1
  const tabs = tabsOf(documents[doc])
  const tab = tabs.includes(asked.tab) ? asked.tab : tabs[0]
  const runs = [doc, beside].map((index) => documents[index]).filter((one): one is RunView => one?.view === 'run')
  return { ...asked, doc, beside, tab, ...(runs.length > 0 ? within(runs, asked) : {}) }
}

/** What of a look the first of some runs has, or any of them: a link may be of another page. */
function within(runs: RunView[], { window, rank, message, cause }: Look): Partial<Look> {
  const [first] = runs
  const [whole, margin] = [longest(runs), longest(runs) / 100]
  const seen: [number, number] | null = window === null ? null : [Math.max(-margin, window[0]), Math.min(whole + margin, window[1])]
  return {
    window: seen !== null && seen[0] < Math.min(whole, seen[1]) && seen[1] > 0 ? seen : null,
    rank: runs.some(({ ranks }) => rank < ranks.length) ? rank : -1,
    message: message < first.messages.from.length ? message : -1,
    cause: cause < first.kinds.length ? cause : -1,
  }
}

function tabsOf(one: Document): Tab[] {
  if (one.view === 'run') return ['timeline', 'mesh', 'schedule', 'certificate', 'settings']
  return one.view === 'schedule' ? ['schedule', 'certificate'] : ['timeline', 'settings']
}

const TAB_NAMES: Record<Tab, string> = { timeline: 'Timeline', mesh: 'Mesh', schedule: 'Schedule', certificate: 'Certificate', settings: 'Settings' }

function change(part: Partial<Look>): void {
  const before = look
  look = valid({ ...look, ...part })
  window.clearTimeout(written)
  // Browsers refuse addresses that change more often than this; `pending` says that one is to come.
  document.documentElement.dataset.pending = ''
  written = window.setTimeout(() => {
    delete document.documentElement.dataset.pending
    keep(address(look))
  }, 120)
  const names = Object.keys(part)
  // A window that moves redraws the canvas and nothing else, so that it moves smoothly.
  if (names.length === 1 && names[0] === 'window' && timeline !== null) timeline.show(look, theme)
  else render(before)
}

const root = document.getElementById('app')!
const header = h('header')
/** What the chosen tab shows. */
const main = h('div', { id: 'view' })
const dialog = help()
root.append(header, h('main', {}, main), dialog)

function render(before: Look | null): void {
  document.documentElement.dataset.theme = theme
  const one = documents[look.doc]
  document.title = `${one.title} · corecast`
  const giveBack = keepFocus(root)
  draw(one, before)
  giveBack()
}

function draw(one: Document, before: Look | null): void {
  header.replaceChildren(...heading(one))
  if (before === null || before.tab !== look.tab || before.doc !== look.doc) stop()
  if (one.view === 'run' && look.tab === 'timeline') {
    showTimeline()
    return
  }
  timeline = null
  shown = ''
  const scrolls = [...main.querySelectorAll('.scroll')].map((element) => element.scrollLeft)
  main.replaceChildren(body(one))
  main.querySelectorAll('.scroll').forEach((element, at) => { element.scrollLeft = scrolls[at] ?? 0 })
}

function body(one: Document): HTMLElement {
  if (one.view === 'sweep') return look.tab === 'settings' ? settingsView(one.facts, []) : sweepView(one, look, theme, change)
  if (one.view === 'schedule') {
    return look.tab === 'schedule' ? scheduleView(one.schedule, look, theme, change) : certificateView(one.certificate)
  }
  const scale = scaleOf([look.doc, ...(look.beside < 0 ? [] : [look.beside])].map((index) => documents[index] as RunView))
  const of = (index: number): HTMLElement => {
    const { view } = model(index)
    if (look.tab === 'mesh') return meshView(model(index), look, theme, change, scale)
    if (look.tab === 'schedule') return scheduleView(view.schedule, look, theme, change)
    return look.tab === 'certificate' ? certificateView(view.certificate) : settingsView(view.facts, view.notes)
  }
  if (look.beside < 0) return of(look.doc)
  return h('div', { class: 'beside' }, ...[look.doc, look.beside].map((index, at) => h('div', {}, h('h2', { class: 'which' }, `${'AB'[at]}  ${documents[index].title}`), of(index))))
}

function showTimeline(): void {
  const runs = look.beside < 0 ? [look.doc] : [look.doc, look.beside]
  const key = runs.join(' ')
  if (timeline === null || key !== shown) {
    timeline = new Timeline(runs.map(model), look, change)
    shown = key
    main.replaceChildren(h('div', { class: 'split timeline-tab' }, timeline.element, h('aside', {})))
    ;(window as unknown as { corecast: unknown }).corecast = { timeline }
  }
  main.querySelector('aside')!.replaceChildren(...panel(runs.map(model)))
  timeline.show(look, theme)
}

function panel(runs: Model[]): HTMLElement[] {
  const [first] = runs
  const parts: HTMLElement[] = []
  const { message } = look
  if (message >= 0 && message < first.messages) {
    const [title, ...rest] = describeMessage(first, message)
    parts.push(h('div', { class: 'card' }, h('b', {}, title), ...rest.map((line) => h('div', {}, line))))
  } else if (look.rank >= 0 && look.rank < first.rows.length) parts.push(rankCard(runs, look.rank))
  if (first.view.advice !== null) parts.push(h('p', { class: 'advice' }, first.view.advice))
  for (const note of first.view.notes) parts.push(h('p', { class: 'note' }, note))
  parts.push(h('h2', {}, "Where all ranks' time went"), causes(runs, ({ totals }) => totals))
  if (runs.some(({ view }) => view.path.length > 0)) {
    parts.push(h('h2', {}, "Where the critical path's time went"), causes(runs, ({ onPath }) => onPath))
  }
  const path = first.view.path.map((segment, at) => ({ ...segment, at })).sort((a, b) => b.end - b.start - (a.end - a.start))
  if (path.length > 0) {
    const rows = path.slice(0, 14).map(({ rank, cause, of, start, end }) => {
      const row = h(
        'tr', { class: 'link-row', tabindex: 0, onclick: () => { timeline?.fit(start, end) }, onkeydown: (event) => { if ((event as KeyboardEvent).key === 'Enter') timeline?.fit(start, end) } },
        h('td', {}, String(rank)), h('td', {}, h('i', { class: 'dot', style: `background:${causeColour(first.view.kinds[cause], theme)}` }), words(first.view.kinds[cause])),
        h('td', { class: 'n' }, first.units(end - start)),
      )
      row.title = first.cause(cause, of)
      return row
    })
    parts.push(h('h2', {}, 'Critical path, the longest parts'))
    parts.push(h('table', {}, h('thead', {}, h('tr', {}, h('th', {}, 'rank'), h('th', {}, 'cause'), h('th', { class: 'n' }, first.view.unit === 'us' ? 'µs' : first.view.unit))), h('tbody', {}, ...rows)))
    if (path.length > 14) parts.push(h('p', { class: 'hint' }, `and ${number(path.length - 14)} shorter ones`))
  }
  return parts
}

function causes(runs: Model[], of: (run: Model) => number[]): HTMLElement {
  const list = h('div', { class: 'causes' })
  runs[0].view.kinds.forEach((kind, index) => {
    if (runs.every((run) => of(run)[index] === 0)) return
    const shares = runs.map((run) => (100 * of(run)[index]) / Math.max(1, of(run).reduce((sum, time) => sum + time, 0)))
    const isOn = look.cause === index
    const row = h(
      'button', { class: isOn ? 'cause on' : 'cause', 'aria-pressed': String(isOn), onclick: () => { change({ cause: isOn ? -1 : index }) } },
      h('i', { class: 'dot', style: `background:${causeColour(kind, theme)}` }),
      h('span', {}, words(kind)),
      h('span', { class: 'n' }, shares.map((share) => `${number(Math.round(share * 10) / 10)} %`).join('  |  ')),
      ...shares.map((share) => h('span', { class: 'meter' }, h('i', { style: `width:${share}%;background:${causeColour(kind, theme)}` }))),
    )
    row.title = MEANINGS[kind] ?? ''
    list.append(row)
  })
  return list
}

function rankCard(runs: Model[], rank: number): HTMLElement {
  const lines = runs.map((run, at) => {
    const row = run.rows[rank]
    if (row === undefined) return null
    const { from, to } = run.view.messages
    let [sent, received] = [0, 0]
    for (let message = 0; message < from.length; message += 1) {
      if (from[message] === rank) sent += 1
      if (to[message] === rank) received += 1
    }
    const totals = new Map<number, number>()
    let start = 0
    row.ends.forEach((end, span) => {
      totals.set(row.causes[span], (totals.get(row.causes[span]) ?? 0) + end - start)
      start = end
    })
    const most = [...totals].sort((a, b) => b[1] - a[1]).slice(0, 3)
    const parts = most.map(([kind, time]) => `${words(run.view.kinds[kind])} ${run.units(time)}`)
    return h('div', {}, runs.length > 1 ? `${'AB'[at]}: ` : '', `sends ${sent}, receives ${received}; ${parts.join(', ')}`)
  })
  return h('div', { class: 'card' }, h('b', {}, `rank ${rank}`), ...lines)
}

function heading(one: Document): HTMLElement[] {
  const pick = h(
    'select', { 'aria-label': 'What to look at', id: 'doc', onchange: (event) => { open(Number((event.target as HTMLSelectElement).value)) } },
    ...documents.map((each, index) => h('option', { value: index, selected: index === look.doc }, label(each))),
  )
  const runs = documents.map((each, index) => ({ each, index })).filter(({ each, index }) => each.view === 'run' && index !== look.doc)
  const beside = one.view === 'run' && runs.length > 0 && h(
    'select', { 'aria-label': 'Beside it', id: 'beside', onchange: (event) => { change({ beside: Number((event.target as HTMLSelectElement).value), window: null }) } },
    h('option', { value: -1 }, 'beside: nothing'),
    ...runs.map(({ each, index }) => h('option', { value: index, selected: index === look.beside }, `beside: ${label(each)}`)),
  )
  const named = (tab: Tab): string => (one.view === 'sweep' && tab === 'timeline' ? 'Who wins' : TAB_NAMES[tab])
  const tabs = tabsOf(one).map((tab): [Tab, string] => [tab, named(tab)])
  const isTimeline = one.view === 'run' && look.tab === 'timeline'
  const toggle = (name: 'arrows' | 'path', label: string): HTMLElement =>
    h('button', { class: look[name] ? 'on' : '', 'aria-pressed': String(look[name]), onclick: () => { change({ [name]: !look[name] }) } }, label)
  return [
    h(
      'div', { class: 'top' },
      h('span', { class: 'brand' }, 'corecast'), documents.length > 1 && pick, beside,
      h('span', { class: 'grow' }),
      ...(isDrawn(one) ? [h('button', { onclick: () => { picture('svg') } }, 'SVG'), h('button', { onclick: () => { picture('png') } }, 'PNG')] : []),
      h('button', { 'aria-label': 'Light or dark', onclick: () => { theme = theme === 'dark' ? 'light' : 'dark'; render(look) } }, theme === 'dark' ? '☀' : '☾'),
      h('button', { 'aria-label': 'Help', onclick: () => { dialog.showModal() } }, '?'),
    ),
    h('div', { class: 'title' }, h('h1', {}, one.title), ...chips(one)),
    h(
      'nav', {}, tabList(tabs, look.tab, main, (tab) => { change({ tab }) }), h('span', { class: 'grow' }),
      isTimeline && toggle('arrows', 'messages'), isTimeline && toggle('path', 'critical path'),
      isTimeline && h('button', { onclick: () => { change({ window: null }) } }, 'whole run'),
    ),
  ]
}

function label(one: Document): string {
  return one.view === 'sweep' ? `who wins: ${one.title}` : one.title
}

function open(doc: number): void {
  const beside = look.beside === doc ? look.doc : look.beside
  const keeps = documents[doc].view === documents[look.doc].view
  change(keeps ? { doc, beside, message: -1, case: -1 } : { ...FIRST, doc })
}

/** The numbers that matter first. */
function chips(one: Document): HTMLElement[] {
  const chip = (text: string, kind = ''): HTMLElement => h('span', { class: `chip ${kind}` }, text)
  const proven = (certificate: Facts | null): HTMLElement[] => (certificate === null ? [] : claims(certificate).map(({ name, holds }) => chip(`${holds ? '✓' : '✗'} ${name}`, holds ? 'good' : 'bad')))
  if (one.view === 'sweep') return [chip(plural(one.cases.length, 'case')), chip(plural(one.winners.length, 'winner'))]
  if (one.view === 'schedule') return proven(one.certificate)
  const { makespan_ps, bound_ps, delivered, certificate, facts } = one
  const list = [chip(`${model(look.doc).time(makespan_ps)}${one.unit === 'us' ? '' : ` = ${seconds(makespan_ps)}`}`, 'strong')]
  if (bound_ps !== null && bound_ps > 0) list.push(chip(`${number(makespan_ps / bound_ps)} × the lower bound`))
  if (look.beside >= 0) {
    const other = model(look.beside).view.makespan_ps
    list.push(chip(`B takes ${number(other / Math.max(1, makespan_ps))} × as long`))
  }
  if (delivered !== null) list.push(chip(delivered ? '✓ delivered' : '✗ wrong data', delivered ? 'good' : 'bad'))
  list.push(...proven(certificate))
  if (typeof facts.fidelity === 'string') list.push(chip(`${value(facts.fidelity)} fidelity`))
  return list
}

/** Whether what is seen is a picture. */
function isDrawn(one: Document): boolean {
  if (look.tab === 'certificate' || look.tab === 'settings') return false
  const shown = look.beside < 0 ? [one] : [one, documents[look.beside]]
  return shown.some((each) => (look.tab === 'mesh' ? each.view === 'run' && each.mesh !== null : look.tab === 'timeline' || (each.view !== 'sweep' && each.schedule !== null)))
}

/** Saves what is seen. */
function picture(kind: 'svg' | 'png'): void {
  const shown = (look.beside < 0 ? [look.doc] : [look.doc, look.beside]).map((index) => documents[index])
  const about = shown.map((one, at) => ({
    title: shown.length > 1 ? `${'AB'[at]}  ${one.title}` : one.title,
    foot: one.view === 'schedule' ? one.name : footer(one.facts),
  }))
  const name = `corecast-${shown[0].view === 'sweep' ? 'who-wins' : look.tab}.${kind}`
  const done = (blob: Blob | null): void => { if (blob !== null) save(name, blob) }
  const asSvg = (svg: SVGSVGElement): void => {
    if (kind === 'svg') save(name, new Blob([text(svg)], { type: 'image/svg+xml' }))
    else png(svg, done)
  }
  if (timeline !== null) {
    // Two runs have their titles over their rows.
    const [title, foot] = [about.length > 1 ? '' : about[0].title, [...new Set(about.map((one) => one.foot))]]
    if (kind === 'png') timeline.png(title, foot, done)
    else asSvg(timeline.svg(title, foot))
    return
  }
  const drawn = sheet(shown.length > 1 ? [...main.querySelectorAll('.beside > div')] : [main], about, theme)
  if (drawn !== null) asSvg(drawn)
}

function help(): HTMLDialogElement {
  const keys: [string, string][] = [
    ['W S, + −, wheel', 'zoom at the middle or the pointer'],
    ['A D, ← →, drag, shift wheel', 'move in time'],
    ['↑ ↓, click', 'select a rank'],
    ['[ ]', 'the message before or after, of the selected rank'],
    ['F', 'show the selected message'],
    ['double click', 'show the span'],
    ['0', 'the whole run'],
    ['M, C', 'messages, critical path'],
    ['1 to 5; ← → Home End on the tabs', 'timeline, mesh, schedule, certificate, settings'],
    [', .', 'a round or a slice of time back or on'],
    ['T', 'light or dark'],
    ['Escape', 'select nothing'],
  ]
  const close = (): void => { dialog.close() }
  return h(
    'dialog', {}, h('h2', {}, 'Keys'),
    h('table', {}, h('tbody', {}, ...keys.map(([key, does]) => h('tr', {}, h('th', {}, key), h('td', {}, does))))),
    h('p', { class: 'hint' }, 'The address says what is looked at: a link to it shows the same.'),
    h('button', { onclick: close }, 'Close'),
  )
}

document.addEventListener('keydown', (event) => {
  const target = event.target as HTMLElement
  if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return
  if (['SELECT', 'INPUT'].includes(target.tagName) && !/^[,.0-9]$/.test(event.key)) return
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
  const tabs = tabsOf(documents[look.doc])
  const step = key === ',' ? -1 : key === '.' ? 1 : 0
  if (/^[1-5]$/.test(key) && Number(key) <= tabs.length) change({ tab: tabs[Number(key) - 1] })
  else if (key === 't') {
    theme = theme === 'dark' ? 'light' : 'dark'
    render(look)
  } else if (key === '?') dialog.showModal()
  else if (key === 'm') change({ arrows: !look.arrows })
  else if (key === 'c') change({ path: !look.path })
  else if (key === 'Escape') change({ rank: -1, message: -1, cause: -1, link: '' })
  else if (step !== 0 && look.tab === 'schedule') change({ round: Math.max(0, look.round + step) })
  else if (step !== 0 && look.tab === 'mesh') change({ slice: Math.max(-1, look.slice + step) })
  else if (timeline === null || !timeline.key(key)) return
  event.preventDefault()
})

onChange((address) => {
  const before = look
  look = valid(readLook(address))
  render(before)
})

render(null)
