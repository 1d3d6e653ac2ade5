// SPDX-License-Identifier: MIT OR Apache-2.0
// The focus over a change that draws parts of the page anew: what had it gets it back, so that somebody
// who uses keys goes on from there and not from the top.

/** What an element is called, for whoever cannot see where it stands. */
function nameOf(element: Element): string {
  return element.getAttribute('aria-label') ?? element.textContent
}

/** Remembers what has the focus; the answer gives it back to what has taken its place. */
export function keepFocus(root: Element): () => void {
  const held = document.activeElement
  if (held === null || held === root || !root.contains(held)) return () => undefined
  const path: number[] = []
  for (let at: Element = held; at !== root; at = at.parentElement!) path.unshift([...at.parentElement!.children].indexOf(at))
  const [kind, name] = [held.tagName, nameOf(held)]
  return () => {
    if (root.contains(held)) return
    const there = path.reduce<Element | undefined>((at, index) => at?.children[index], root)
    // Something else may stand in its place, where a card has come before it or has gone.
    const isSame = there?.tagName === kind && nameOf(there) === name
    const same = isSame ? there : [...root.querySelectorAll(kind)].find((one) => nameOf(one) === name)
    const found = same ?? (there?.tagName === kind ? there : undefined)
    ;(found as HTMLElement | SVGElement | undefined)?.focus({ preventScroll: true })
  }
}
