// SPDX-License-Identifier: MIT OR Apache-2.0
// Elements with texts that are never markup.

type Child = Node | string | null | undefined | false
type Attributes = Record<string, string | number | boolean | ((event: Event) => void) | undefined>

const SVG = 'http://www.w3.org/2000/svg'

function fill<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value)
    else if (value === true) element.setAttribute(name, '')
    else if (value !== false && value !== undefined) element.setAttribute(name, String(value))
  }
  for (const child of children) if (child !== null && child !== undefined && child !== false) element.append(child)
  return element
}

/** An HTML element; attributes that begin with `on` are listeners. */
export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(name), attributes, children)
}

/** An SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS(SVG, name) as SVGElementTagNameMap[K], attributes, children)
}

/** Opens by Enter and the space bar as by a click, for elements that are no buttons. */
export function onActivate(act: () => void): Attributes {
  return {
    tabindex: 0,
    onclick: act,
    onkeydown: (event) => {
      const key = (event as KeyboardEvent).key
      if (key !== 'Enter' && key !== ' ') return
      event.preventDefault()
      act()
    },
  }
}
