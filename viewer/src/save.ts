// SPDX-License-Identifier: MIT OR Apache-2.0
// Pictures as files: SVG as it is on the page, PNG as many pixels as the screen has, twice.

import { s } from './dom'

export function save(name: string, blob: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  window.setTimeout(() => { URL.revokeObjectURL(link.href) }, 10_000)
}

/** A copy that needs no style sheet, with its settings at the foot. */
export function standalone(svg: SVGSVGElement, footer: string, background: string): SVGSVGElement {
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
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  copy.setAttribute('font-family', 'system-ui, "DejaVu Sans", sans-serif')
  copy.setAttribute('viewBox', `${x} ${y} ${width} ${height + 18}`)
  copy.setAttribute('width', String(width))
  copy.setAttribute('height', String(height + 18))
  copy.prepend(s('rect', { x, y, width, height: height + 18, fill: background }))
  copy.append(s('text', { x: x + 8, y: y + height + 11, 'font-size': 9, fill: '#778290' }, footer))
  return copy
}

export function text(svg: SVGSVGElement): string {
  return new XMLSerializer().serializeToString(svg) + '\n'
}

/** Draws a standalone picture into a PNG. */
export function png(svg: SVGSVGElement, done: (blob: Blob | null) => void): void {
  const image = new Image()
  const [width, height] = [Number(svg.getAttribute('width')), Number(svg.getAttribute('height'))]
  image.onload = () => {
    const canvas = document.createElement('canvas')
    canvas.width = width * 2
    canvas.height = height * 2
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
    canvas.toBlob(done)
  }
  image.onerror = () => { done(null) }
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text(svg))}`
}
