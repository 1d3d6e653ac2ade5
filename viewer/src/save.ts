// SPDX-License-Identifier: MIT OR Apache-2.0
// Pictures of what is seen, as files: SVG as it is, PNG as the screen has it, twice.

import { h, s } from './dom'
import type { Theme } from './palette'
import { SvgPen } from './pen'
import { frame, heightAbove, heightBelow, type Around, type Entry } from './sheet'

export const BACKGROUND: Record<Theme, string> = { light: '#ffffff', dark: '#14171c' }

export function save(name: string, blob: Blob): void {
  const link = h('a', { href: URL.createObjectURL(blob), download: name })
  link.click()
  window.setTimeout(() => { URL.revokeObjectURL(link.href) }, 10_000)
}

type Part = { element: SVGElement; width: number; height: number }

/** A copy that needs no style sheet. */
function ofSvg(svg: SVGSVGElement): Part {
  const copy = svg.cloneNode(true) as SVGSVGElement
  const [all, copied] = [svg.querySelectorAll('*'), copy.querySelectorAll('*')]
  const names = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'font-weight']
  all.forEach((element, at) => {
    const style = getComputedStyle(element)
    const set = copied[at] as SVGElement
    for (const name of names) set.setAttribute(name, style.getPropertyValue(name))
    for (const name of ['class', 'tabindex', 'role']) set.removeAttribute(name)
  })
  const [x, y, width, height] = (svg.getAttribute('viewBox') ?? '0 0 100 100').split(' ').map(Number)
  const group = s('g', { transform: `translate(${-x} ${-y})`, 'font-family': 'system-ui, "DejaVu Sans", sans-serif' })
  group.append(...copy.childNodes)
  return { element: s('g', {}, group), width, height }
}

function ofCanvas(canvas: HTMLCanvasElement): Part {
  const [width, height] = [canvas.style.width, canvas.style.height].map(Number.parseFloat)
  return { element: s('image', { href: canvas.toDataURL(), width, height }), width, height }
}

/** The key that a view has beside its picture. */
function keyOf(stage: Element): Entry[] {
  return [...stage.querySelectorAll('.steps')].flatMap((steps) => [...steps.childNodes].map((one) => {
    const mark = one instanceof Element ? one.querySelector('i') : null
    const style = mark === null ? null : getComputedStyle(mark)
    return { colour: style?.backgroundColor ?? null, name: one.textContent ?? '', isRound: style?.borderRadius === '50%' }
  }))
}

/** Everything that a view draws, its stages below each other, each with its title, key and settings. */
export function sheet(stages: Element[], about: { title: string; foot: string }[], theme: Theme): SVGSVGElement | null {
  const parts = stages.map((stage, at) => {
    const drawn = [...stage.querySelectorAll('.picture > svg, .picture > canvas')]
    const row = drawn.map((one) => (one instanceof HTMLCanvasElement ? ofCanvas(one) : ofSvg(one as SVGSVGElement)))
    const caption = stage.querySelector('.caption')?.textContent ?? ''
    const around: Around = { title: [about[at].title, caption].filter((one) => one !== '').join(': '), key: keyOf(stage), foot: [about[at].foot] }
    return { row, around }
  }).filter(({ row }) => row.length > 0)
  if (parts.length === 0) return null
  const width = Math.max(420, ...parts.map(({ row }) => row.reduce((sum, part) => sum + part.width, 0)))
  const high = parts.map(({ row, around }) => {
    const above = heightAbove(around, width)
    const middle = row.reduce((most, part) => Math.max(most, part.height), 0)
    return { above, middle, whole: above + middle + heightBelow(around, width) }
  })
  const pen = new SvgPen(width, high.reduce((sum, { whole }) => sum + whole, 0), BACKGROUND[theme])
  let y = 0
  parts.forEach(({ row, around }, at) => {
    const { above, middle, whole } = high[at]
    pen.within(0, y, () => {
      frame(pen, around, width, above + middle, theme)
      let x = 0
      for (const { element, width: wide } of row) {
        pen.within(x, above, (group) => { group.append(element) })
        x += wide
      }
    })
    y += whole
  })
  return pen.svg
}

export function text(svg: SVGSVGElement): string {
  return new XMLSerializer().serializeToString(svg) + '\n'
}

/** Pixels of a side up to which browsers draw. */
const SIDE_MAX = 16_000

/** Draws a standalone picture into a PNG. */
export function png(svg: SVGSVGElement, done: (blob: Blob | null) => void): void {
  const image = new Image()
  const [width, height] = [Number(svg.getAttribute('width')), Number(svg.getAttribute('height'))]
  image.onload = () => {
    const canvas = document.createElement('canvas')
    const density = Math.min(2, SIDE_MAX / width, SIDE_MAX / height)
    canvas.width = Math.round(width * density)
    canvas.height = Math.round(height * density)
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
    canvas.toBlob(done)
  }
  image.onerror = () => { done(null) }
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text(svg))}`
}
