// SPDX-License-Identifier: MIT OR Apache-2.0
// A schedule round by round: its messages, and what every rank holds then.

import type { Look } from './address'
import type { ScheduleView } from './documents'
import { h, s } from './dom'
import { bytes, number, plural } from './format'
import type { Theme } from './palette'

/** Where the first row begins, in the diagram and beside it. */
const TOP = 22
/** Messages up to which those of all rounds are drawn. */
const DRAWN_MAX = 4000

/** What a rank has in a place after a round. */
export type State = 'initial' | 'earlier' | 'stored' | 'combined'

/** For every rank and place what is there after `round`; nothing where nothing is. */
export function held(schedule: ScheduleView, round: number): Map<number, State>[] {
  const all = schedule.initial.map((chunks) => new Map(chunks.map((chunk): [number, State] => [chunk, 'initial'])))
  for (const write of schedule.writes) {
    if (write.round > round) break // by round
    const now: State = write.combines ? 'combined' : 'stored'
    all[write.rank].set(write.chunk, write.round < round ? 'earlier' : now)
  }
  return all
}

const COLOURS: Record<State, string> = { initial: '#0072b2', earlier: '#009e73', stored: '#e69f00', combined: '#cc79a7' }
const NAMES: Record<State, string> = {
  initial: 'from the start', earlier: 'arrived before', stored: 'arrives in this round', combined: 'combined in this round',
}

export function scheduleView(schedule: ScheduleView | null, look: Look, theme: Theme, change: (part: Partial<Look>) => void): HTMLElement {
  if (schedule === null) return h('p', { class: 'empty' }, 'There is no schedule to show here.')
  const last = Math.max(0, schedule.rounds - 1)
  const round = Math.min(look.round, last)
  const go = (to: number): void => { change({ round: Math.max(0, Math.min(last, to)) }) }
  const here = schedule.transfers.filter((one) => one.round === round)
  const sent = here.reduce((sum, one) => sum + one.bytes, 0)
  const slider = h('input', {
    type: 'range', min: 0, max: last, value: round, 'aria-label': 'Round', id: 'round',
    oninput: (event) => { go(Number((event.target as HTMLInputElement).value)) },
  })
  const bar = h(
    'div', { class: 'bar' },
    // Without `disabled`, which would take the focus away from whoever steps to the end.
    h('button', { onclick: () => { go(round - 1) }, 'aria-disabled': String(round === 0), 'aria-label': 'The round before' }, '◀'),
    h('button', { onclick: () => { go(round + 1) }, 'aria-disabled': String(round === last), 'aria-label': 'The next round' }, '▶'),
    slider,
    h('b', {}, `round ${round} of ${schedule.rounds === 0 ? 0 : last}`),
    h('span', { class: 'hint' }, `${plural(here.length, 'message')}, ${bytes(sent)}`),
  )
  return h(
    'div', { class: 'split' },
    h('section', { class: 'stage' }, bar, h('div', { class: 'pair' }, h('div', { class: 'picture scroll' }, diagram(schedule, round, go)), matrix(schedule, round, theme))),
    h('aside', {}, ...steps(schedule, here, look.rank)),
  )
}

/** Of the diagram and of what ranks hold, which lie side by side. */
function rowHeight(schedule: ScheduleView): number {
  return Math.max(7, Math.min(26, 560 / schedule.ranks))
}

function diagram(schedule: ScheduleView, round: number, go: (to: number) => void): SVGSVGElement {
  const row = rowHeight(schedule)
  const isAll = schedule.transfers.length <= DRAWN_MAX && schedule.rounds <= 400
  const first = isAll ? 0 : Math.max(0, round - 5)
  const columns = isAll ? schedule.rounds : Math.min(schedule.rounds - first, 12)
  const [left, top] = [56, TOP]
  const COLUMN = Math.max(44, Math.min(110, 460 / Math.max(1, columns)))
  const [width, height] = [left + Math.max(1, columns) * COLUMN + 10, top + schedule.ranks * row + 6]
  const svg = s('svg', { viewBox: `0 0 ${width} ${height}`, width, height, class: 'rounds', role: 'img', 'aria-label': `Messages of round ${round}` })
  const x = (at: number): number => left + (at - first) * COLUMN
  const y = (rank: number): number => top + (rank + 0.5) * row
  svg.append(s('rect', { class: 'now', x: x(round), y: 0, width: COLUMN, height }))
  const every = Math.ceil(11 / row)
  for (let rank = 0; rank < schedule.ranks; rank += 1) {
    svg.append(s('line', { class: 'rail', x1: left, x2: width - 6, y1: y(rank), y2: y(rank) }))
    if (rank % every === 0) svg.append(s('text', { x: left - 8, y: y(rank) + 3.5, 'text-anchor': 'end', 'font-size': 10 }, `rank ${rank}`))
  }
  for (let at = first; at < first + columns; at += 1) {
    const label = s('text', { x: x(at) + COLUMN / 2, y: 14, 'text-anchor': 'middle', 'font-size': 10, class: 'head', onclick: () => { go(at) } }, String(at))
    svg.append(label)
  }
  for (const { round: at, from, to, chunks, bytes: size } of schedule.transfers) {
    if (at < first || at >= first + columns) continue
    const [x1, x2] = [x(at) + 10, x(at) + COLUMN - 12]
    const title = s('title', {}, `round ${at}: ${from} → ${to}, ${bytes(size)}, chunks ${ranges(chunks)}`)
    const arrow = s('g', { class: at === round ? 'arrow now' : at < round ? 'arrow past' : 'arrow' }, title)
    arrow.append(s('line', { x1, y1: y(from), x2, y2: y(to) }), s('circle', { cx: x2, cy: y(to), r: Math.min(3, row / 3) }))
    svg.append(arrow)
  }
  return svg
}

/** Which chunks, with neighbours joined: `0-3,7`. */
export function ranges(chunks: number[]): string {
  const parts: string[] = []
  for (let at = 0; at < chunks.length; ) {
    let last = at
    while (last + 1 < chunks.length && chunks[last + 1] === chunks[last] + 1) last += 1
    parts.push(last > at ? `${chunks[at]}-${chunks[last]}` : String(chunks[at]))
    at = last + 1
  }
  const most = 12
  return parts.slice(0, most).join(',') + (parts.length > most ? ` and ${parts.length - most} more` : '')
}

function matrix(schedule: ScheduleView, round: number, theme: Theme): HTMLElement {
  const places = schedule.chunk_bytes.length
  const rows = held(schedule, round)
  const width = Math.max(1, Math.min(26, Math.floor(900 / Math.max(1, places))))
  const height = rowHeight(schedule)
  const left = 56
  const canvas = h('canvas', { role: 'img', 'aria-label': `What every rank holds after round ${round}` })
  const density = window.devicePixelRatio || 1
  const last = schedule.chunks - 1
  const chunks = last < 1 ? 'chunk 0' : `chunks 0 to ${last}`
  const title = places > schedule.chunks ? `${chunks}, then places of the schedule` : chunks
  // As wide as what is written above it.
  const [w, high] = [Math.max(220, left + places * width, left + title.length * 6), TOP + schedule.ranks * height + 6]
  canvas.width = Math.min(16000, w * density)
  canvas.height = Math.min(16000, high * density)
  canvas.style.width = `${w}px`
  canvas.style.height = `${high}px`
  const context = canvas.getContext('2d')
  if (context !== null) {
    context.scale(density, density)
    const ink = theme === 'dark' ? { text: '#8b94a1', none: '#20252c', wanted: '#3a424d' } : { text: '#667080', none: '#f1f3f5', wanted: '#d5dae0' }
    const [gapX, gapY] = [width > 4 ? 1 : 0, height > 4 ? 1 : 0]
    context.font = '10px system-ui, sans-serif'
    rows.forEach((row, rank) => {
      const y = TOP + rank * height
      context.fillStyle = ink.none
      context.fillRect(left, y, places * width, height - gapY)
      context.fillStyle = ink.wanted
      for (const chunk of schedule.wanted[rank]) context.fillRect(left + chunk * width, y, width - gapX, height - gapY)
      for (const [chunk, state] of row) {
        context.fillStyle = COLOURS[state]
        context.fillRect(left + chunk * width, y, width - gapX, height - gapY)
      }
      if (rank % Math.ceil(11 / height) === 0) {
        context.fillStyle = ink.text
        context.textAlign = 'right'
        context.fillText(`rank ${rank}`, left - 8, y + height / 2 + 3)
      }
    })
    context.fillStyle = ink.text
    context.textAlign = 'left'
    context.fillText(title, left, 14)
  }
  const key = (Object.keys(COLOURS) as State[]).map((state) => h('span', { class: 'step' }, h('i', { style: `background:${COLOURS[state]}` }), NAMES[state]))
  const wanted = h('span', { class: 'step' }, h('i', { class: 'wanted' }), 'to come')
  return h('div', { class: 'held-box' }, h('div', { class: 'picture scroll' }, canvas), h('div', { class: 'steps' }, `held after round ${round}:`, ...key, wanted))
}

function steps(schedule: ScheduleView, here: ScheduleView['transfers'], rank: number): HTMLElement[] {
  const shown = here.slice(0, 200)
  const rows = shown.map((one) => h('tr', {}, h('td', {}, `${one.from}→${one.to}`), h('td', {}, ranges(one.chunks)), h('td', { class: 'n' }, bytes(one.bytes))))
  const more = here.length - shown.length
  const panels: HTMLElement[] = [
    h('h2', {}, 'Messages of this round'),
    h('table', {}, h('thead', {}, h('tr', {}, h('th', {}, 'message'), h('th', {}, 'chunks'), h('th', { class: 'n' }, 'size'))), h('tbody', {}, ...rows)),
  ]
  if (more > 0) panels.push(h('p', { class: 'hint' }, `and ${number(more)} more`))
  const of = rank >= 0 && rank < schedule.ranks ? rank : 0
  panels.push(h('h2', {}, `Steps of rank ${of}`))
  panels.push(h('pre', {}, schedule.steps[of].slice(0, 300).join('\n') || 'none'))
  return panels
}
