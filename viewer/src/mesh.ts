// SPDX-License-Identifier: MIT OR Apache-2.0
// The mesh of a chip: what every link carried, in all or in a slice of time, and what waited for it.

import type { Look } from './address'
import type { LinkView, MeshView, RunView } from './documents'
import { h, onActivate, s } from './dom'
import { link as linkName, number, pair } from './format'
import type { Model } from './model'
import { loadColour, type Theme } from './palette'

const BAR = 8

type Place = { x: number; y: number; width: number; height: number }

/** Where a link is drawn: a bar between neighbours, a stub at the edge for one that goes around. */
export function place(mesh: MeshView, { from, to }: Pick<LinkView, 'from' | 'to'>, cell: number): Place {
  const box = cell * 0.5
  const centre = ([x, y]: readonly [number, number]): [number, number] => [(x + 0.5) * cell, (mesh.size[1] - y - 0.5) * cell]
  const [[fx, fy], [tx, ty]] = [centre(from), centre(to)]
  const apart = BAR * 0.75
  if (Math.abs(from[0] - to[0]) + Math.abs(from[1] - to[1]) !== 1) {
    const [dx, dy] = [Math.sign(fx - tx), Math.sign(fy - ty)]
    return { x: fx + dx * box * 0.75 - BAR / 2, y: fy + dy * box * 0.75 - BAR / 2, width: BAR, height: BAR }
  }
  const length = cell - box
  const [x, y] = [(fx + tx) / 2, (fy + ty) / 2]
  if (from[1] === to[1]) {
    const off = to[0] > from[0] ? apart : -apart
    return { x: x - length / 2, y: y + off - BAR / 2, width: length, height: BAR }
  }
  const off = to[1] > from[1] ? -apart : apart
  return { x: x + off - BAR / 2, y: y - length / 2, width: BAR, height: length }
}

/** What has the darkest colour: flits of a whole run, and bytes per picosecond in a slice of one. */
export type Scale = { flits: number; rate: number }

/** One scale for runs beside each other, so that a colour means the same in all of them. */
export function scaleOf(runs: RunView[]): Scale {
  const scale = { flits: 0, rate: 0 }
  for (const { mesh, makespan_ps } of runs) {
    if (mesh === null) continue
    for (const { flits } of mesh.links) scale.flits = Math.max(scale.flits, flits)
    scale.rate = Math.max(scale.rate, (mesh.peak_bytes * mesh.slices) / Math.max(1, makespan_ps))
  }
  return scale
}

/** What a link carries in a slice, or in all for -1, as a share of the scale's end. */
export function share({ mesh, makespan_ps }: RunView, link: LinkView, slice: number, scale: Scale): number {
  if (slice < 0) return scale.flits > 0 ? link.flits / scale.flits : 0
  const bytes = (link.load[slice] / 1000) * mesh!.peak_bytes
  return scale.rate > 0 ? (bytes * mesh!.slices) / Math.max(1, makespan_ps) / scale.rate : 0
}

/** A link as an address has it. */
export function linkId({ from, to }: Pick<LinkView, 'from' | 'to'>): string {
  return `${from.join()}-${to.join()}`
}

export function meshView(model: Model, look: Look, theme: Theme, change: (part: Partial<Look>) => void, scale: Scale = scaleOf([model.view])): HTMLElement {
  const mesh = model.view.mesh
  if (mesh === null) {
    return h('p', { class: 'empty' }, 'This run has no mesh to show: its chip has none, its machine does not tell, or it is too large.')
  }
  const slice = Math.min(look.slice, mesh.slices - 1)
  const slices = mesh.slices > 0
  const cell = Math.max(34, Math.min(96, 900 / mesh.size[0], (window.innerHeight - 310) / mesh.size[1]))
  const picture = drawing(model, mesh, look, slice, cell, theme, change, scale)
  const width = model.view.makespan_ps / Math.max(1, mesh.slices)
  const when =
    slice < 0
      ? 'the whole run, as the simulator counted'
      : `${model.stretch(slice * width, (slice + 1) * width)}: messages spread evenly over their time`
  const slider = h('input', {
    type: 'range', min: 0, max: mesh.slices - 1, value: Math.max(0, slice), 'aria-label': 'Time', id: 'slice',
    oninput: (event) => { change({ slice: Number((event.target as HTMLInputElement).value) }) },
  })
  const choice = (label: string, isOn: boolean, act: () => void): HTMLElement =>
    h('button', { class: isOn ? 'on' : '', 'aria-pressed': String(isOn), onclick: act }, label)
  return h(
    'div', { class: 'split' },
    h(
      'section', { class: 'stage' },
      slices && h(
        'div', { class: 'bar' },
        choice('whole run', slice < 0, () => { change({ slice: -1 }) }),
        choice('over time', slice >= 0, () => { if (slice < 0) change({ slice: 0 }) }),
        choice(player.id === 0 ? '▶ play' : '■ stop', player.id !== 0, () => { play(mesh, slice, change) }),
        slider,
      ),
      h('p', { class: 'caption' }, when),
      h('div', { class: 'picture' }, picture),
      legend(slice < 0 ? scale.flits : scale.rate * width, slice, theme),
    ),
    h('aside', {}, ...side(model, mesh, look, slice)),
  )
}

/** The animation; there is one at a time. */
const player = { id: 0 }

function play(mesh: MeshView, from: number, change: (part: Partial<Look>) => void): void {
  if (player.id !== 0) {
    stop()
    change({})
    return
  }
  let slice = from >= mesh.slices - 1 ? -1 : from
  player.id = window.setInterval(() => {
    slice += 1
    if (slice >= mesh.slices) {
      stop()
      change({})
    } else change({ slice })
  }, 60)
  change({ slice: Math.max(0, slice) })
}

export function stop(): void {
  window.clearInterval(player.id)
  player.id = 0
}

function drawing(model: Model, mesh: MeshView, look: Look, slice: number, cell: number, theme: Theme, change: (part: Partial<Look>) => void, scale: Scale): SVGSVGElement {
  const [width, height] = [mesh.size[0] * cell, mesh.size[1] * cell]
  const svg = s('svg', {
    viewBox: `-26 -8 ${width + 40} ${height + 40}`, width: width + 40, height: height + 40, role: 'group', 'aria-label': 'Mesh',
  })
  const here = new Map<string, number[]>()
  mesh.places.forEach(([x, y], rank) => {
    const key = `${x},${y}`
    here.set(key, [...(here.get(key) ?? []), rank])
  })
  const middle = ([x, y]: readonly [number, number]): [number, number] => [(x + 0.5) * cell, (mesh.size[1] - y - 0.5) * cell]
  // Links that carry nothing in the whole run: that they are there.
  for (let x = 0; x < mesh.size[0]; x += 1) {
    for (let y = 0; y < mesh.size[1]; y += 1) {
      const [x1, y1] = middle([x, y])
      if (x + 1 < mesh.size[0]) svg.append(s('line', { class: 'wire', x1, y1, x2: x1 + cell, y2: y1 }))
      if (y + 1 < mesh.size[1]) svg.append(s('line', { class: 'wire', x1, y1, x2: x1, y2: y1 - cell }))
    }
  }
  const waited = new Set(model.view.link_waits.map(({ hold }) => linkName(hold.from, hold.to)))
  mesh.links.forEach((one, index) => {
    const { x, y, width: w, height: high } = place(mesh, one, cell)
    const isOn = look.link === linkId(one)
    const text = slice >= 0
      ? `${linkName(one.from, one.to)}: ${number((one.load[slice] / 1000) * mesh.peak_bytes)} bytes`
      : `${linkName(one.from, one.to)}: ${number(one.flits)} flits`
    svg.append(s(
      'rect',
      {
        x, y, width: w, height: high, rx: 1.5, fill: loadColour(share(model.view, one, slice, scale), theme), class: isOn ? 'link on' : 'link', role: 'button',
        'aria-label': text, 'data-link': index, ...onActivate(() => { change({ link: isOn ? '' : linkId(one) }) }),
      },
      s('title', {}, text),
    ))
    if (waited.has(linkName(one.from, one.to))) {
      svg.append(s('circle', { class: 'held', cx: x + w / 2, cy: y + high / 2, r: 2.6 }))
    }
  })
  const box = cell * 0.5
  for (let y = 0; y < mesh.size[1]; y += 1) {
    for (let x = 0; x < mesh.size[0]; x += 1) {
      const [cx, cy] = [(x + 0.5) * cell, (mesh.size[1] - y - 0.5) * cell]
      const ranks = here.get(`${x},${y}`) ?? []
      const isOn = ranks.includes(look.rank)
      const shown = ranks.length > 3 ? `${ranks[0]}–${ranks[ranks.length - 1]}` : ranks.join(' ')
      svg.append(s(
        'g', { class: `router${isOn ? ' on' : ''}${ranks.length === 0 ? ' bare' : ''}` },
        s('rect', { x: cx - box / 2, y: cy - box / 2, width: box, height: box, rx: 4 }),
        s('text', { x: cx, y: cy + 3.5, 'text-anchor': 'middle', 'font-size': Math.min(11, (box / Math.max(2, shown.length)) * 1.6) }, shown),
        s('title', {}, `router (${x},${y}): ${ranks.length === 0 ? 'no rank' : `ranks ${ranks.join(', ')}`}`),
      ))
    }
  }
  for (let x = 0; x < mesh.size[0]; x += 1) {
    svg.append(s('text', { class: 'axis', x: (x + 0.5) * cell, y: height + 10, 'text-anchor': 'middle', 'font-size': 10 }, String(x)))
  }
  for (let y = 0; y < mesh.size[1]; y += 1) {
    svg.append(s('text', { class: 'axis', x: -10, y: (mesh.size[1] - y - 0.5) * cell + 3, 'text-anchor': 'middle', 'font-size': 10 }, String(y)))
  }
  svg.append(s('text', { class: 'axis', x: width / 2, y: height + 26, 'text-anchor': 'middle', 'font-size': 10 }, 'x (east); y grows north'))
  return svg
}

function legend(most: number, slice: number, theme: Theme): HTMLElement {
  const unit = slice >= 0 ? 'bytes per slice' : 'flits'
  const steps = [0, 1, 2, 3, 4, 5].map((step) => h(
    'span', { class: 'step' },
    h('i', { style: `background:${loadColour(step / 5, theme)}` }),
    step === 0 ? '0' : `to ${number(Math.ceil((most * step) / 5))}`,
  ))
  const held = h('span', { class: 'step' }, h('i', { class: 'held' }), 'a message waited here for another one')
  return h('div', { class: 'steps' }, `${unit} per link`, ...steps, held)
}

function side(model: Model, mesh: MeshView, look: Look, slice: number): HTMLElement[] {
  const busiest = mesh.links.map((one, index) => ({ one, index })).sort((a, b) => b.one.flits - a.one.flits)
  const chosen = mesh.links.find((one) => linkId(one) === look.link)
  const panels: HTMLElement[] = []
  if (chosen !== undefined) {
    panels.push(h('h2', {}, `Link ${linkName(chosen.from, chosen.to)}`))
    panels.push(h('p', {}, `${number(chosen.flits)} flits in the whole run`))
    if (chosen.load.some((one) => one > 0)) panels.push(h('div', { class: 'spark' }, spark(chosen.load, slice)))
    const isHere = (one: readonly [number, number], other: readonly [number, number]): boolean => one[0] === other[0] && one[1] === other[1]
    const waits = model.view.link_waits.filter(({ hold }) => isHere(hold.from, chosen.from) && isHere(hold.to, chosen.to))
    panels.push(waitTable(model, waits, 'Held up here', 'No message waited for this link.'))
  } else {
    panels.push(h('h2', {}, 'Busiest links'), h('p', { class: 'hint' }, 'Click a link to see what it carries and what holds it.'))
    const rows = busiest.slice(0, 8).map(({ one }) => h('tr', {}, h('td', {}, linkName(one.from, one.to)), h('td', { class: 'n' }, number(one.flits))))
    panels.push(h('table', {}, h('thead', {}, h('tr', {}, h('th', {}, 'link'), h('th', { class: 'n' }, 'flits'))), h('tbody', {}, ...rows)))
    panels.push(waitTable(model, model.view.link_waits.slice(0, 12), 'Waits for links', 'No message waited for a link.'))
  }
  return panels
}

function waitTable(model: Model, waits: Model['view']['link_waits'], title: string, none: string): HTMLElement {
  if (waits.length === 0) return h('div', {}, h('h2', {}, title), h('p', { class: 'hint' }, none))
  const rows = waits.slice(0, 40).map(({ rank, hold, wait_ps }) => h(
    'tr', {},
    h('td', {}, String(rank)), h('td', {}, pair(hold.message)), h('td', {}, linkName(hold.from, hold.to)),
    h('td', {}, hold.holder === null ? 'background' : pair(hold.holder)), h('td', { class: 'n' }, model.units(wait_ps)),
  ))
  const head = ['rank', 'message', 'link', 'held by', model.view.unit].map((name, at) => h('th', { class: at === 4 ? 'n' : '' }, name))
  return h('div', {}, h('h2', {}, title), h('table', {}, h('thead', {}, h('tr', {}, ...head)), h('tbody', {}, ...rows)))
}

function spark(load: number[], slice: number): SVGSVGElement {
  const [width, height] = [280, 60]
  const most = load.reduce((found, one) => Math.max(found, one), 1)
  const step = width / load.length
  const points = load.map((one, at) => `${(at * step).toFixed(1)},${(height - (one / most) * height).toFixed(1)}`)
  const svg = s('svg', { viewBox: `0 0 ${width} ${height}`, class: 'sparkline', role: 'img', 'aria-label': 'Load over time' })
  svg.append(s('polygon', { points: `0,${height} ${points.join(' ')} ${width},${height}` }))
  if (slice >= 0) svg.append(s('line', { x1: slice * step, x2: slice * step, y1: 0, y2: height }))
  return svg
}

