// SPDX-License-Identifier: MIT OR Apache-2.0
// Ranks over time, of one run or of two below each other: where the time of every rank went, messages
// and the critical path. One canvas, drawn anew for every change.

import { scaleLinear } from 'd3-scale'
import type { Look } from './address'
import { h } from './dom'
import { bytes, number, words } from './format'
import { longest, type Model } from './model'
import { causeColour, rgb, type Theme } from './palette'
import { CanvasPen, SvgPen, type Pen } from './pen'
import { pathLines, raster, runs, upperBound } from './raster'
import { BACKGROUND } from './save'
import { frame, heightAbove, heightBelow, type Around } from './sheet'

/** Messages up to which arrows are drawn. */
export const ARROWS_MAX = 800
const LEFT = 74
const RIGHT = 14
const AXIS = 30
const HEAD = 24
const OVERVIEW = 46
const ROW_MAX = 38
const ROW_MIN = 5

/** What lies below a place of the canvas. */
export type Hit = { model: number; rank: number; time: number; message: number }

/** Kinds of the pixels of a row, and where it is drawn. */
type Strip = { pixels: Uint8Array; y: number; height: number }
type Draw = (pixels: Uint8Array, y: number, height: number) => void

type Lane = { model: number; rank: number; y: number }

export class Timeline {
  readonly element: HTMLElement
  private readonly canvas = h('canvas', {
    class: 'timeline',
    tabindex: 0,
    role: 'application',
    'aria-label': 'Timeline of ranks. A and D move, W and S zoom, arrow up and down select a rank, bracket keys a message.',
  })
  private readonly tip = h('div', { class: 'tip', role: 'status' })
  private readonly pixels = document.createElement('canvas')
  private image = new ImageData(1, 1)
  private readonly overview = { canvas: document.createElement('canvas'), key: '' }
  private width = 600
  private height = 400
  private scroll = 0
  private frame = 0
  private hover: Hit | null = null
  /** Arrows that the last drawing left out. */
  private skipped = 0
  /** How long the last drawing took, in milliseconds. */
  took = 0
  theme: Theme = 'light'

  constructor(
    private readonly models: Model[],
    private look: Look,
    private readonly change: (part: Partial<Look>) => void,
  ) {
    this.element = h('div', { class: 'timeline-box' }, this.canvas, this.tip)
    new ResizeObserver(() => {
      this.resize()
    }).observe(this.element)
    this.listen()
  }

  show(look: Look, theme: Theme): void {
    this.look = look
    this.theme = theme
    this.redraw()
  }

  get whole(): number {
    return longest(this.models.map(({ view }) => view))
  }

  get window(): [number, number] {
    return this.look.window ?? [0, this.whole]
  }

  private get plot(): number {
    return Math.max(50, this.width - LEFT - RIGHT)
  }

  private get row(): number {
    const rows = this.models.reduce((sum, model) => sum + model.rows.length, 0)
    const free = this.height - OVERVIEW - AXIS - HEAD * (this.models.length > 1 ? this.models.length : 0)
    return Math.max(ROW_MIN, Math.min(ROW_MAX, free / Math.max(1, rows)))
  }

  /** Where rows begin, and how high all of them are. */
  private lanes(): { lanes: Lane[]; heads: { model: number; y: number }[]; total: number } {
    const lanes: Lane[] = []
    const heads: { model: number; y: number }[] = []
    let y = 0
    this.models.forEach((model, index) => {
      if (this.models.length > 1) {
        heads.push({ model: index, y })
        y += HEAD
      }
      model.rows.forEach((_, rank) => {
        lanes.push({ model: index, rank, y })
        y += this.row
      })
    })
    return { lanes, heads, total: y }
  }

  private get room(): number {
    return this.height - OVERVIEW - AXIS
  }

  private resize(): void {
    const { width, height } = this.element.getBoundingClientRect()
    if (width === 0 || height === 0) return
    this.width = width
    this.height = height
    const density = window.devicePixelRatio || 1
    this.canvas.width = Math.round(width * density)
    this.canvas.height = Math.round(height * density)
    this.canvas.style.width = `${width}px`
    this.canvas.style.height = `${height}px`
    this.draw()
  }

  redraw(): void {
    if (this.frame !== 0) return
    this.frame = requestAnimationFrame(() => {
      this.frame = 0
      this.draw()
    })
  }

  private draw(): void {
    const context = this.canvas.getContext('2d')
    if (context === null) return
    const begin = performance.now()
    const density = window.devicePixelRatio || 1
    context.setTransform(density, 0, 0, density, 0, 0)
    context.clearRect(0, 0, this.width, this.height)
    const bottom = Math.max(0, this.lanes().total - this.room)
    this.scroll = Math.max(0, Math.min(bottom, this.scroll))
    const strips: Strip[] = []
    const pen = new CanvasPen(context)
    if (this.overview.key !== this.overviewKey()) {
      this.paintOverview((pixels, y, height) => strips.push({ pixels: pixels.slice(), y, height }))
      this.keepOverview(strips, density)
    }
    context.drawImage(this.overview.canvas, LEFT, 0, this.overview.canvas.width / density, OVERVIEW)
    this.frameOverview(pen)
    const rows: Strip[] = []
    this.paintRows(pen, (pixels, y, height) => rows.push({ pixels: pixels.slice(), y, height }), () => {
      this.blit(context, rows, density)
    })
    this.took = performance.now() - begin
  }

  /** The window as SVG, with every row. */
  svg(title: string, foot: string[]): SVGSVGElement {
    const kept = [this.scroll, this.height]
    this.scroll = 0
    this.height = OVERVIEW + AXIS + this.lanes().total
    const around = this.around(title, foot)
    const above = heightAbove(around, this.width)
    const pen = new SvgPen(this.width, above + this.height + heightBelow(around, this.width), this.ink().background)
    frame(pen, around, this.width, above + this.height, this.theme)
    pen.within(0, above, () => { this.paint(pen) })
    ;[this.scroll, this.height] = kept
    return pen.svg
  }

  private paint(pen: SvgPen): void {
    const colours = this.colours()
    const row: Draw = (pixels, y, height) => {
      for (const [first, last, kind] of runs(pixels)) {
        const x = LEFT + (first / pixels.length) * this.plot
        pen.rect(x, y, ((last - first) / pixels.length) * this.plot, height, colours[kind])
      }
    }
    this.paintOverview(row)
    this.frameOverview(pen)
    this.paintRows(pen, row, () => undefined)
  }

  private around(title: string, foot: string[]): Around {
    const { kinds } = this.models[0].view
    const seen = kinds.filter((_, index) => this.models.some((model) => model.totals[index] > 0))
    return { title, key: seen.map((kind) => ({ colour: causeColour(kind, this.theme), name: words(kind) })), foot }
  }

  /** What the screen shows of the window. */
  png(title: string, foot: string[], done: (blob: Blob | null) => void): void {
    this.draw()
    const around = this.around(title, foot)
    const density = window.devicePixelRatio || 1
    const above = heightAbove(around, this.width)
    const height = Math.min(this.height, OVERVIEW + AXIS + this.lanes().total)
    const copy = document.createElement('canvas')
    copy.width = this.canvas.width
    copy.height = Math.round((above + height + heightBelow(around, this.width)) * density)
    const context = copy.getContext('2d')!
    context.fillStyle = this.ink().background
    context.fillRect(0, 0, copy.width, copy.height)
    context.drawImage(this.canvas, 0, Math.round(above * density))
    context.scale(density, density)
    context.fillRect(0, above + height, this.width, this.height)
    frame(new CanvasPen(context), around, this.width, above + height, this.theme)
    copy.toBlob(done)
  }

  private ink(): { background: string; text: string; faint: string; line: string; path: string; halo: string } {
    return this.theme === 'dark'
      ? { background: BACKGROUND.dark, text: '#dfe3e8', faint: '#8b94a1', line: '#2d333c', path: '#ffffff', halo: '#000000' }
      : { background: BACKGROUND.light, text: '#1b1f24', faint: '#667080', line: '#dfe3e8', path: '#000000', halo: '#ffffff' }
  }

  /** The colour of every kind; with one highlighted the others fade. */
  private colours(): string[] {
    const background = rgb(this.ink().background)
    return this.models[0].view.kinds.map((kind, index) => {
      const colour = causeColour(kind, this.theme)
      if (this.look.cause < 0 || this.look.cause === index) return colour
      const mixed = rgb(colour).map((part, at) => Math.round(part * 0.16 + background[at] * 0.84))
      return `#${mixed.map((part) => part.toString(16).padStart(2, '0')).join('')}`
    })
  }

  private table: { key: string; words: Uint32Array } = { key: '', words: new Uint32Array(256) }

  /** Rows of pixels, each stretched to its height: drawn as one picture, which is what takes time. */
  private blit(context: CanvasRenderingContext2D, strips: Strip[], density: number): void {
    if (strips.length === 0) return
    const key = `${this.theme} ${this.look.cause}`
    if (this.table.key !== key) {
      this.table = { key, words: new Uint32Array(256) }
      this.colours().forEach((colour, kind) => {
        const [r, g, b] = rgb(colour)
        this.table.words[kind] = (255 << 24) | (b << 16) | (g << 8) | r
      })
    }
    const { words } = this.table
    const columns = strips[0].pixels.length
    if (this.image.width !== columns || this.image.height !== strips.length) {
      this.image = new ImageData(columns, strips.length)
      this.pixels.width = columns
      this.pixels.height = strips.length
    }
    const out = new Uint32Array(this.image.data.buffer)
    strips.forEach(({ pixels }, row) => {
      const first = row * columns
      for (let at = 0; at < columns; at += 1) out[first + at] = words[pixels[at]]
    })
    this.pixels.getContext('2d', { willReadFrequently: true })!.putImageData(this.image, 0, 0)
    context.imageSmoothingEnabled = false
    strips.forEach(({ y, height }, row) => {
      context.drawImage(this.pixels, 0, row, columns, 1, LEFT, y, columns / density, height)
    })
  }

  /** What the overview depends on; where the window is on it is drawn over it. */
  private overviewKey(): string {
    return [this.theme, this.look.cause, this.plot, window.devicePixelRatio].join(' ')
  }

  private keepOverview(strips: Strip[], density: number): void {
    const { canvas } = this.overview
    canvas.width = Math.round(this.plot * density)
    canvas.height = Math.round(OVERVIEW * density)
    const context = canvas.getContext('2d')!
    context.setTransform(density, 0, 0, density, -LEFT * density, 0)
    this.blit(context, strips, density)
    this.overview.key = this.overviewKey()
  }

  private columns(): Uint8Array {
    return new Uint8Array(Math.round(this.plot * (window.devicePixelRatio || 1)))
  }

  private paintRows(pen: Pen, row: Draw, flush: () => void): void {
    const ink = this.ink()
    const [from, to] = this.window
    const x = (time: number): number => LEFT + ((time - from) / (to - from)) * this.plot
    const { lanes, heads } = this.lanes()
    const top = OVERVIEW + AXIS - this.scroll
    const height = this.row
    const gap = height > 8 ? 2 : 1
    const isSeen = (y: number): boolean => y + height > OVERVIEW + AXIS && y < this.height
    const pixels = this.columns()
    this.axis(pen, x)
    pen.clip(0, OVERVIEW + AXIS, this.width, this.height - OVERVIEW - AXIS)
    const every = Math.ceil(12 / height)
    for (const { model, rank, y } of lanes) {
      if (!isSeen(top + y)) continue
      const { ends, causes } = this.models[model].rows[rank]
      raster(ends, causes, from, to, pixels)
      row(pixels, top + y, height - gap)
      const isSelected = rank === this.look.rank
      if (rank % every === 0 || isSelected) {
        const label = this.models[model].rows.length > 1000 ? String(rank) : `rank ${rank}`
        pen.text(LEFT - 8, top + y + height / 2 + 3.5, label, isSelected ? ink.text : ink.faint, 11, 'end', isSelected)
      }
      if (isSelected) pen.lines([0, top + y - 1, this.width, top + y - 1, 0, top + y + height - 1, this.width, top + y + height - 1], { colour: ink.faint, width: 1 })
    }
    flush()
    for (const { model, y } of heads) {
      const { title, makespan_ps } = this.models[model].view
      pen.text(LEFT, top + y + 16, `${'AB'[model] ?? model}  ${title}: ${this.models[model].time(makespan_ps)}`, ink.text, 12, 'start', true)
    }
    pen.unclip()
    pen.clip(LEFT, OVERVIEW + AXIS, this.plot, this.height - OVERVIEW - AXIS)
    for (const { view } of this.models) {
      const end = x(view.makespan_ps)
      pen.lines([end, OVERVIEW + AXIS, end, this.height], { colour: ink.faint, width: 1, dash: true })
    }
    const middle = (model: number, rank: number): number => top + this.laneOf(model, rank) + (height - gap) / 2
    this.skipped = 0
    this.models.forEach((model, index) => {
      if (this.look.arrows) this.arrows(pen, model, (rank) => middle(index, rank), x)
    })
    if (this.look.path) {
      this.models.forEach((model, index) => {
        this.criticalPath(pen, model, (rank) => middle(index, rank), x, height)
      })
    }
    this.selected(pen, middle, x)
    pen.unclip()
    if (this.skipped > 0) {
      const text = `${number(this.skipped)} messages in view: zoom in or select a rank to see their arrows`
      const width = text.length * 6.1 + 16
      pen.rect(this.width - RIGHT - width, this.height - 26, width, 20, this.theme === 'dark' ? '#2d333c' : '#eef1f4')
      pen.text(this.width - RIGHT - 8, this.height - 12, text, ink.text, 11, 'end')
    }
  }

  private laneOf(model: number, rank: number): number {
    let y = 0
    for (let at = 0; at <= model; at += 1) {
      if (this.models.length > 1) y += HEAD
      y += (at < model ? this.models[at].rows.length : rank) * this.row
    }
    return y
  }

  /** The whole run in a few pixels, with the window on it. */
  private paintOverview(row: Draw): void {
    const pixels = this.columns()
    const all = this.models.flatMap((model) => model.rows)
    const shown = Math.min(all.length, OVERVIEW - 12)
    const height = (OVERVIEW - 12) / Math.max(1, shown)
    for (let at = 0; at < shown; at += 1) {
      const { ends, causes } = all[Math.floor((at * all.length) / shown)]
      raster(ends, causes, 0, this.whole, pixels)
      row(pixels, 4 + at * height, height)
    }
  }

  /** The window on the overview. */
  private frameOverview(pen: Pen): void {
    const ink = this.ink()
    const [from, to] = this.window
    const x = (time: number): number => LEFT + Math.max(0, Math.min(1, time / this.whole)) * this.plot
    if (this.look.window !== null) {
      const shade = this.theme === 'dark' ? '#14171cb0' : '#ffffffb0'
      pen.rect(LEFT, 2, x(from) - LEFT, OVERVIEW - 8, shade)
      pen.rect(x(to), 2, LEFT + this.plot - x(to), OVERVIEW - 8, shade)
    }
    const [a, b, top, low] = [x(from), Math.max(x(to), x(from) + 2), 2, OVERVIEW - 6]
    pen.lines([a, top, b, top, b, top, b, low, b, low, a, low, a, low, a, top], { colour: ink.text, width: 1.5 })
  }

  private axis(pen: Pen, x: (time: number) => number): void {
    const ink = this.ink()
    const { unit, unit_ps } = this.models[0].view
    const [from, to] = this.window
    const scale = scaleLinear().domain([from / unit_ps, to / unit_ps])
    const ticks = scale.ticks(Math.max(2, Math.floor(this.plot / 110)))
    const lines: number[] = []
    const step = ticks.length > 1 ? ticks[1] - ticks[0] : 1
    const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step) + 1e-9)))
    const format = new Intl.NumberFormat('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
    for (const tick of ticks) {
      const at = x(tick * unit_ps)
      lines.push(at, OVERVIEW + AXIS - 8, at, this.height)
      pen.text(at, OVERVIEW + AXIS - 13, format.format(tick), ink.faint, 11, 'middle')
    }
    pen.lines(lines, { colour: ink.line, width: 1 })
    pen.text(LEFT - 8, OVERVIEW + AXIS - 13, unit === 'us' ? 'µs' : unit, ink.faint, 11, 'end')
  }

  private arrows(pen: Pen, model: Model, middle: (rank: number) => number, x: (time: number) => number): void {
    const { from, to, start, end } = model.view.messages
    const [low, high] = this.window
    const seen: number[] = []
    const { rank } = this.look
    const count = model.windows.count(low, high)
    if (rank < 0 && count > ARROWS_MAX) {
      this.skipped += count
      return
    }
    model.windows.visit(low, high, (message) => {
      if (rank >= 0 && from[message] !== rank && to[message] !== rank) return
      if (seen.length <= ARROWS_MAX) seen.push(message)
    })
    if (seen.length > ARROWS_MAX) {
      this.skipped += count
      return
    }
    const lines: number[] = []
    const dots: number[] = []
    for (const message of seen) {
      const [endX, endY] = [x(end[message]), middle(to[message])]
      lines.push(x(start[message]), middle(from[message]), endX, endY)
      dots.push(endX, endY)
    }
    const colour = this.theme === 'dark' ? '#ffffff' : '#111111'
    const alpha = seen.length > 400 ? '55' : '99'
    pen.lines(lines, { colour: colour + alpha, width: 1 })
    pen.dots(dots, this.row > 10 ? 2.2 : 1.4, colour)
  }

  private criticalPath(pen: Pen, model: Model, middle: (rank: number) => number, x: (time: number) => number, height: number): void {
    const ink = this.ink()
    const jumps: number[] = []
    const off = Math.min(7, height / 2 - 2)
    const [low, high] = this.window
    const ys = model.rows.map((_, rank) => middle(rank) + off)
    let [last, jumped] = [-1, -Infinity]
    for (const { rank, start } of model.view.path) {
      // Of jumps that lie closer than can be seen only some are drawn.
      if (last >= 0 && last !== rank && start >= low && start <= high && x(start) - jumped > 4) {
        jumps.push(x(start), ys[last], x(start), ys[rank])
        jumped = x(start)
      }
      last = rank
    }
    const lines = pathLines(model.view.path, [low, high], x, (rank) => ys[rank])
    const width = height > 10 ? 3 : 2
    pen.lines(jumps, { colour: ink.path + '80', width: 1 })
    pen.bars(lines, [{ colour: ink.halo, width: width + 2 }, { colour: ink.path, width }])
  }

  private selected(pen: Pen, middle: (model: number, rank: number) => number, x: (time: number) => number): void {
    const { message } = this.look
    const { messages } = this.models[0].view
    const draw = (of: number, model: number, colour: string): void => {
      const all = this.models[model].view.messages
      const [a, b] = [x(all.start[of]), x(all.end[of])]
      const [from, to] = [middle(model, all.from[of]), middle(model, all.to[of])]
      pen.lines([a, from, b, to], { colour: this.ink().halo, width: 5 })
      pen.lines([x(all.posted[of]), from, a, from], { colour, width: 2, dash: true })
      pen.lines([a, from, b, to], { colour, width: 2.5 })
      pen.dots([a, from, b, to], 4, colour)
    }
    if (message >= 0 && message < messages.from.length) draw(message, 0, '#0072b2')
    if (this.hover !== null && this.hover.message >= 0) draw(this.hover.message, this.hover.model, '#d55e00')
  }

  private hit(clientX: number, clientY: number): Hit | null {
    const box = this.canvas.getBoundingClientRect()
    const [x, y] = [clientX - box.left, clientY - box.top]
    if (x < LEFT || x > LEFT + this.plot || y < OVERVIEW + AXIS) return null
    const [from, to] = this.window
    const time = from + ((x - LEFT) / this.plot) * (to - from)
    const at = y - OVERVIEW - AXIS + this.scroll
    const lane = this.lanes().lanes.find((one) => at >= one.y && at < one.y + this.row)
    if (lane === undefined) return null
    const model = this.models[lane.model]
    let [message, nearest] = [-1, 5]
    if (this.look.arrows && this.skipped === 0) {
      const near = ((to - from) / this.plot) * 6
      const { from: senders, to: receivers, start, end } = model.view.messages
      model.windows.visit(time - near, time + near, (one) => {
        if (this.look.rank >= 0 && senders[one] !== this.look.rank && receivers[one] !== this.look.rank) return
        const px = (value: number): number => ((value - from) / (to - from)) * this.plot + LEFT
        const py = (rank: number): number => this.laneOf(lane.model, rank) + this.row / 2
        const away = distance(x, at, px(start[one]), py(senders[one]), px(end[one]), py(receivers[one]))
        if (away < nearest) [message, nearest] = [one, away]
      })
    }
    return { ...lane, time, message }
  }

  /** What lies somewhere, in words. */
  describe({ model, rank, time, message }: Hit): string[] {
    const one = this.models[model]
    if (message >= 0) return describeMessage(one, message)
    const { ends, causes, of } = one.rows[rank]
    const span = upperBound(ends, time)
    if (span >= ends.length) return [`rank ${rank}`, 'after its last step']
    const start = span > 0 ? ends[span - 1] : 0
    return [
      `rank ${rank}: ${one.cause(causes[span], of[span])}`,
      one.stretch(start, ends[span]),
      `lasts ${one.time(ends[span] - start)}`,
    ]
  }

  /** Keeps a window within the run, and no shorter than a few picoseconds. */
  private set(from: number, to: number): void {
    const whole = this.whole
    const length = Math.max(20, Math.min(to - from, whole * 1.02))
    const margin = whole * 0.01
    const first = Math.max(-margin, Math.min(whole + margin - length, from))
    const isWhole = length >= whole * 0.999
    this.change({ window: isWhole ? null : [first, first + length] })
  }

  zoom(factor: number, at = 0.5): void {
    const [from, to] = this.window
    const fixed = from + (to - from) * at
    this.set(fixed - (fixed - from) * factor, fixed + (to - fixed) * factor)
  }

  pan(share: number): void {
    const [from, to] = this.window
    const by = (to - from) * share
    this.set(from + by, to + by)
  }

  /** Shows a stretch of time with a little before and after. */
  fit(from: number, to: number): void {
    const margin = Math.max(10, (to - from) * 0.2)
    this.set(from - margin, to + margin)
  }

  private listen(): void {
    const { canvas } = this
    let drag: { x: number; y: number; window: [number, number]; scroll: number; moved: boolean; overview: boolean } | null = null
    const jump = (clientX: number): void => {
      const box = canvas.getBoundingClientRect()
      const time = ((clientX - box.left - LEFT) / this.plot) * this.whole
      const half = (this.window[1] - this.window[0]) / 2
      this.set(time - half, time + half)
    }
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return
      canvas.setPointerCapture(event.pointerId)
      const overview = event.clientY - canvas.getBoundingClientRect().top < OVERVIEW
      drag = { x: event.clientX, y: event.clientY, window: this.window, scroll: this.scroll, moved: false, overview }
      if (overview) jump(event.clientX)
    })
    canvas.addEventListener('pointermove', (event) => {
      if (drag?.overview === true) {
        jump(event.clientX)
      } else if (drag !== null) {
        const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y]
        if (Math.hypot(dx, dy) > 3) drag.moved = true
        if (!drag.moved) return
        const by = (dx / this.plot) * (drag.window[1] - drag.window[0])
        this.scroll = drag.scroll - dy
        this.set(drag.window[0] - by, drag.window[1] - by)
        this.redraw()
      } else {
        this.hover = this.hit(event.clientX, event.clientY)
        this.point(event.clientX, event.clientY)
        this.redraw()
      }
    })
    canvas.addEventListener('pointerup', (event) => {
      if (drag !== null && !drag.moved && !drag.overview) {
        const hit = this.hit(event.clientX, event.clientY)
        if (hit === null) this.change({ rank: -1, message: -1 })
        else if (hit.message >= 0 && hit.model === 0) this.change({ message: hit.message })
        else this.change({ rank: hit.rank === this.look.rank ? -1 : hit.rank, message: -1 })
      }
      drag = null
    })
    canvas.addEventListener('pointerleave', () => {
      this.hover = null
      this.tip.style.display = 'none'
      this.redraw()
    })
    canvas.addEventListener('dblclick', (event) => {
      const hit = this.hit(event.clientX, event.clientY)
      if (hit === null) return
      const { ends } = this.models[hit.model].rows[hit.rank]
      const span = upperBound(ends, hit.time)
      if (span < ends.length) this.fit(span > 0 ? ends[span - 1] : 0, ends[span])
    })
    canvas.addEventListener(
      'wheel',
      (event) => {
        event.preventDefault()
        const unit = event.deltaMode === 1 ? 16 : 1
        const box = canvas.getBoundingClientRect()
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
          const by = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : event.deltaY
          this.pan((by * unit) / this.plot)
        } else {
          this.zoom(Math.exp(event.deltaY * unit * 0.0016), (event.clientX - box.left - LEFT) / this.plot)
        }
      },
      { passive: false },
    )
  }

  private point(clientX: number, clientY: number): void {
    if (this.hover === null) {
      this.tip.style.display = 'none'
      return
    }
    const [first, ...rest] = this.describe(this.hover)
    this.tip.replaceChildren(h('b', {}, first), ...rest.map((line) => h('div', {}, line)))
    this.tip.style.display = 'block'
    const box = this.element.getBoundingClientRect()
    const { width, height } = this.tip.getBoundingClientRect()
    const [x, y] = [clientX - box.left, clientY - box.top]
    this.tip.style.left = `${Math.max(4, Math.min(x + 14, box.width - width - 8))}px`
    this.tip.style.top = `${y + 18 + height > box.height ? y - height - 10 : y + 18}px`
  }

  /** What a key does here; whether it does anything. */
  key(key: string): boolean {
    const ranks = this.models[0].rows.length
    const { messages } = this.models[0].view
    const step = (by: number): void => {
      const rank = this.look.rank < 0 ? (by > 0 ? 0 : ranks - 1) : (this.look.rank + by + ranks) % ranks
      const y = this.laneOf(0, rank)
      this.scroll = Math.max(y + this.row - this.room, Math.min(this.scroll, y))
      this.change({ rank, message: -1 })
    }
    const next = (by: number): void => {
      const { rank } = this.look
      const count = messages.from.length
      for (let tried = 1; tried <= count; tried += 1) {
        const from = this.look.message < 0 && by < 0 ? count : this.look.message
        const message = (((from + by * tried) % count) + count) % count
        if (rank >= 0 && messages.from[message] !== rank && messages.to[message] !== rank) continue
        this.change({ message })
        const [low, high] = this.window
        const [start, end] = [messages.start[message], messages.end[message]]
        if (end < low || start > high) this.set((start + end - high + low) / 2, (start + end + high - low) / 2)
        return
      }
    }
    const acts: Record<string, () => void> = {
      w: () => { this.zoom(1 / 1.4) },
      s: () => { this.zoom(1.4) },
      '+': () => { this.zoom(1 / 1.4) },
      '=': () => { this.zoom(1 / 1.4) },
      '-': () => { this.zoom(1.4) },
      a: () => { this.pan(-0.2) },
      d: () => { this.pan(0.2) },
      ArrowLeft: () => { this.pan(-0.1) },
      ArrowRight: () => { this.pan(0.1) },
      ArrowUp: () => { step(-1) },
      ArrowDown: () => { step(1) },
      '[': () => { next(-1) },
      ']': () => { next(1) },
      '0': () => { this.change({ window: null }) },
      Home: () => { this.change({ window: null }) },
      f: () => {
        const { message } = this.look
        if (message >= 0 && message < messages.from.length) this.fit(messages.posted[message], messages.end[message])
      },
    }
    const act = Object.hasOwn(acts, key) ? acts[key] : undefined
    act?.()
    return act !== undefined
  }
}

export function describeMessage(model: Model, message: number): string[] {
  const { from, to, bytes: sizes, posted, start, end } = model.view.messages
  return [
    `message ${from[message]} → ${to[message]}, ${bytes(sizes[message])}`,
    `posted ${model.time(posted[message])}`,
    `moves ${model.stretch(start[message], end[message])}`,
    `lasts ${model.time(end[message] - start[message])}`,
  ]
}

function distance(x: number, y: number, ax: number, ay: number, bx: number, by: number): number {
  const [dx, dy] = [bx - ax, by - ay]
  const length = dx * dx + dy * dy
  const share = length === 0 ? 0 : Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / length))
  return Math.hypot(x - ax - share * dx, y - ay - share * dy)
}


