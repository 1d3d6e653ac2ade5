// SPDX-License-Identifier: MIT OR Apache-2.0
// What a timeline is drawn with: a canvas on the screen, SVG for a file.

import { s } from './dom'
import { rgb } from './palette'
import { cover } from './raster'

export type Stroke = { colour: string; width: number; dash?: boolean }

export interface Pen {
  rect(x: number, y: number, width: number, height: number, colour: string): void
  /** Lines from point to point, each four numbers. */
  lines(ends: number[], stroke: Stroke): void
  /** Level lines as `lines` has them, from left to right, by each of some strokes; thousands of them take far less time. */
  bars(ends: number[], strokes: Stroke[]): void
  dots(points: number[], radius: number, colour: string): void
  text(x: number, y: number, text: string, colour: string, size: number, anchor: 'start' | 'middle' | 'end', bold?: boolean): void
  /** Everything until `unclip` is only seen inside. */
  clip(x: number, y: number, width: number, height: number): void
  unclip(): void
}

export const FONT = 'system-ui, "Segoe UI", "DejaVu Sans", sans-serif'

/** Bars from which on they are a picture: a browser takes time for every one that it is asked to draw. */
const BARS_MAX = 4000

export class CanvasPen implements Pen {
  constructor(private readonly context: CanvasRenderingContext2D) {}

  rect(x: number, y: number, width: number, height: number, colour: string): void {
    this.context.fillStyle = colour
    this.context.fillRect(x, y, width, height)
  }

  lines(ends: number[], { colour, width, dash }: Stroke): void {
    const { context } = this
    context.strokeStyle = colour
    context.lineWidth = width
    context.setLineDash(dash ? [3, 3] : [])
    context.beginPath()
    for (let at = 0; at < ends.length; at += 4) {
      context.moveTo(ends[at], ends[at + 1])
      context.lineTo(ends[at + 2], ends[at + 3])
    }
    context.stroke()
  }

  bars(ends: number[], strokes: Stroke[]): void {
    const { context } = this
    if (ends.length > 4 * BARS_MAX) {
      this.strips(ends, strokes)
      return
    }
    for (const { colour, width } of strokes) {
      context.fillStyle = colour
      for (let at = 0; at < ends.length; at += 4) context.fillRect(ends[at], ends[at + 1] - width / 2, ends[at + 2] - ends[at], width)
    }
  }

  /** Bars as a picture with a row of pixels for every level, each as dense as it is covered. */
  private strips(ends: number[], strokes: Stroke[]): void {
    const { context } = this
    const [columns, density] = [context.canvas.width, context.getTransform().a]
    const rows = new Map<number, Float32Array>()
    for (let at = 0; at < ends.length; at += 4) {
      const row = rows.get(ends[at + 1]) ?? new Float32Array(columns)
      rows.set(ends[at + 1], row)
      cover(row, ends[at] * density, ends[at + 2] * density)
    }
    const picture = document.createElement('canvas')
    picture.width = columns
    picture.height = rows.size
    const image = new ImageData(columns, rows.size)
    const words = new Uint32Array(image.data.buffer)
    context.imageSmoothingEnabled = false
    for (const { colour, width } of strokes) {
      const [r, g, b] = rgb(colour)
      let first = 0
      for (const row of rows.values()) {
        for (let at = 0; at < columns; at += 1) words[first + at] = (Math.min(255, 255 * row[at]) << 24) | (b << 16) | (g << 8) | r
        first += columns
      }
      picture.getContext('2d')!.putImageData(image, 0, 0)
      ;[...rows.keys()].forEach((y, row) => {
        context.drawImage(picture, 0, row, columns, 1, 0, y - width / 2, columns / density, width)
      })
    }
  }

  dots(points: number[], radius: number, colour: string): void {
    const { context } = this
    context.fillStyle = colour
    context.beginPath()
    for (let at = 0; at < points.length; at += 2) {
      context.moveTo(points[at] + radius, points[at + 1])
      context.arc(points[at], points[at + 1], radius, 0, 2 * Math.PI)
    }
    context.fill()
  }

  text(x: number, y: number, text: string, colour: string, size: number, anchor: 'start' | 'middle' | 'end', bold = false): void {
    const { context } = this
    context.fillStyle = colour
    context.font = `${bold ? '600 ' : ''}${size}px ${FONT}`
    context.textAlign = anchor === 'middle' ? 'center' : anchor
    context.fillText(text, x, y)
  }

  clip(x: number, y: number, width: number, height: number): void {
    this.context.save()
    this.context.beginPath()
    this.context.rect(x, y, width, height)
    this.context.clip()
  }

  unclip(): void {
    this.context.restore()
  }
}

export class SvgPen implements Pen {
  readonly svg: SVGSVGElement
  private group: SVGElement
  private clips = 0

  constructor(width: number, height: number, background: string) {
    this.svg = s('svg', { viewBox: `0 0 ${width} ${height}`, width, height, xmlns: 'http://www.w3.org/2000/svg' })
    this.group = this.svg
    this.rect(0, 0, width, height, background)
  }

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    this.group.append(s('rect', { x: short(x), y: short(y), width: short(width), height: short(height), fill }))
  }

  lines(ends: number[], { colour, width, dash }: Stroke): void {
    let d = ''
    for (let at = 0; at < ends.length; at += 4) {
      d += `M${short(ends[at])} ${short(ends[at + 1])}L${short(ends[at + 2])} ${short(ends[at + 3])}`
    }
    const attributes = { d, stroke: colour, 'stroke-width': width, fill: 'none', 'stroke-dasharray': dash ? '3 3' : undefined }
    if (d !== '') this.group.append(s('path', attributes))
  }

  bars(ends: number[], strokes: Stroke[]): void {
    for (const stroke of strokes) this.lines(ends, stroke)
  }

  dots(points: number[], radius: number, colour: string): void {
    for (let at = 0; at < points.length; at += 2) {
      this.group.append(s('circle', { cx: short(points[at]), cy: short(points[at + 1]), r: radius, fill: colour }))
    }
  }

  text(x: number, y: number, text: string, fill: string, size: number, anchor: 'start' | 'middle' | 'end', bold = false): void {
    const attributes = { x: short(x), y: short(y), fill, 'font-size': size, 'text-anchor': anchor }
    const weight = bold ? { 'font-weight': 600 } : {}
    this.group.append(s('text', { ...attributes, ...weight, 'font-family': FONT }, text))
  }

  clip(x: number, y: number, width: number, height: number): void {
    const id = `clip${(this.clips += 1)}`
    const inside = s('g', { 'clip-path': `url(#${id})` })
    this.group.append(s('clipPath', { id }, s('rect', { x, y, width, height })), inside)
    this.group = inside
  }

  unclip(): void {
    this.group = this.group.parentNode as SVGElement
  }

  /** Draws with another place as its corner. */
  within(x: number, y: number, draw: (group: SVGElement) => void): void {
    const outside = this.group
    this.group = s('g', { transform: `translate(${short(x)} ${short(y)})` })
    outside.append(this.group)
    draw(this.group)
    this.group = outside
  }
}

function short(value: number): number {
  return Math.round(value * 100) / 100
}
