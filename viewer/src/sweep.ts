// SPDX-License-Identifier: MIT OR Apache-2.0
// Who wins where: a map of rank counts and sizes, and all algorithms of the chosen case.

import type { Look } from './address'
import type { Case, SweepView } from './documents'
import { h, onActivate, s } from './dom'
import { bytes, number, plural } from './format'
import { causeColour, inkOn, SERIES, type Theme } from './palette'

export function colourOf(sweep: SweepView, algorithm: string): string {
  const at = sweep.winners.indexOf(algorithm)
  return at < 0 ? '#999999' : SERIES[at % SERIES.length]
}

/** How many times as long the second takes; none where nobody is second. */
export function lead({ runs }: Case): number | null {
  const [first, second] = runs
  if (second === undefined || first.time === null || second.time === null || first.time <= 0) return null
  return second.time / first.time
}

export function sweepView(sweep: SweepView, look: Look, theme: Theme, change: (part: Partial<Look>) => void): HTMLElement {
  const chosen = sweep.cases[look.case] ?? sweep.cases[0]
  const index = sweep.cases.indexOf(chosen)
  return h(
    'div', { class: 'split wide' },
    h('section', { class: 'stage' }, h('div', { class: 'picture scroll' }, map(sweep, index, theme, change)), key(sweep)),
    h('aside', {}, ...inCase(sweep, chosen, theme)),
  )
}

function key(sweep: SweepView): HTMLElement {
  const steps = sweep.winners.map((name) => {
    const wins = sweep.cases.filter(({ runs }) => runs[0].algorithm === name).length
    return h('span', { class: 'step' }, h('i', { style: `background:${colourOf(sweep, name)}` }), `${name} (${wins})`)
  })
  return h('div', { class: 'steps' }, ...steps)
}

function map(sweep: SweepView, chosen: number, theme: Theme, change: (part: Partial<Look>) => void): SVGSVGElement {
  const width = Math.max(58, Math.min(112, 860 / Math.max(1, sweep.sizes.length)))
  const height = Math.max(30, Math.min(48, 520 / Math.max(1, sweep.ranks.length)))
  const [left, top] = [64, 10]
  const [w, high] = [left + sweep.sizes.length * width + 10, top + sweep.ranks.length * height + 46]
  const svg = s('svg', { viewBox: `0 0 ${w} ${high}`, width: w, height: high, class: 'winners', role: 'group', 'aria-label': 'Who wins where' })
  const row = (ranks: number): number => top + sweep.ranks.indexOf(ranks) * height
  const column = (size: number): number => left + sweep.sizes.indexOf(size) * width
  sweep.cases.forEach((one, index) => {
    const { algorithm } = one.runs[0]
    const colour = colourOf(sweep, algorithm)
    const ink = inkOn(colour)
    const [x, y] = [column(one.bytes), row(one.ranks)]
    const ahead = lead(one)
    const isOn = index === chosen
    const cell = s('g', {
      class: isOn ? 'case on' : 'case', role: 'button', 'data-case': index,
      'aria-label': `${one.ranks} ranks, ${one.bytes} bytes: ${algorithm}`, ...onActivate(() => { change({ case: index }) }),
    })
    const most = Math.floor((width - 8) / 6)
    const name = algorithm.length > most ? `${algorithm.slice(0, most - 1)}…` : algorithm
    cell.append(
      s('rect', { x: x + 1, y: y + 1, width: width - 2, height: height - 2, rx: 3, fill: colour }),
      s('text', { x: x + width / 2, y: y + height / 2 - 1, 'text-anchor': 'middle', 'font-size': 11, fill: ink }, name),
    )
    if (ahead !== null) {
      const text = ahead < 1.0005 ? 'a tie' : `by ${ahead < 10 ? `${number(Math.round((ahead - 1) * 1000) / 10)} %` : `${number(ahead)}×`}`
      cell.append(s('text', { x: x + width / 2, y: y + height / 2 + 11, 'text-anchor': 'middle', 'font-size': 9, fill: ink, opacity: 0.85 }, text))
    }
    cell.append(s('title', {}, `${one.ranks} ranks, ${bytes(one.bytes)}: ${algorithm}`))
    svg.append(cell)
  })
  const faint = theme === 'dark' ? '#8b94a1' : '#667080'
  const label = (x: number, y: number, text: string, anchor: string): void => {
    svg.append(s('text', { x, y, 'text-anchor': anchor, 'font-size': 11, fill: faint }, text))
  }
  for (const ranks of sweep.ranks) label(left - 8, row(ranks) + height / 2 + 4, String(ranks), 'end')
  for (const size of sweep.sizes) label(column(size) + width / 2, top + sweep.ranks.length * height + 16, bytes(size), 'middle')
  label(left - 8, top + sweep.ranks.length * height + 16, 'ranks', 'end')
  label(left + (sweep.sizes.length * width) / 2, top + sweep.ranks.length * height + 36, 'size', 'middle')
  return svg
}

function inCase(sweep: SweepView, { ranks, bytes: size, bound, runs }: Case, theme: Theme): HTMLElement[] {
  const times = runs.map((run) => run.time ?? 0)
  const most = times.reduce((found, time) => Math.max(found, time), bound ?? 0)
  const fastest = times[0]
  const rows = runs.map((run) => {
    const time = run.time ?? 0
    const total = Object.values(run.causes).reduce((sum, ns) => sum + ns, 0)
    const bar = h('div', { class: 'stack', style: `width:${most > 0 ? (100 * time) / most : 0}%` })
    if (total > 0) {
      for (const [name, ns] of Object.entries(run.causes)) {
        if (ns <= 0) continue
        const kind = name.replace(/_ns$/, '')
        const share = h('i', { style: `width:${(100 * ns) / total}%;background:${causeColour(kind, theme)}` })
        share.title = `${kind.replaceAll('_', ' ')}: ${number((100 * ns) / total)} % of all ranks' time`
        bar.append(share)
      }
    } else bar.append(h('i', { style: `width:100%;background:${colourOf(sweep, run.algorithm)}` }))
    const times_ = fastest > 0 && time > fastest ? `${(time / fastest).toFixed(2)}×` : ''
    return h(
      'div', { class: 'contestant' },
      h('div', {}, h('b', {}, run.algorithm), run.delivered ? null : h('span', { class: 'bad' }, ' wrong data')),
      h('div', { class: 'n' }, `${number(time)} ${sweep.unit} ${times_}`),
      bar,
    )
  })
  const line = bound === null ? '' : `; no schedule beats ${number(bound)} ${sweep.unit}`
  return [
    h('h2', {}, `${plural(ranks, 'rank')}, ${bytes(size)}`),
    h('p', { class: 'hint' }, `${plural(runs.length, 'algorithm')}${runs.length > 1 ? ', the fastest first' : ''}${line}`),
    ...rows,
  ]
}
