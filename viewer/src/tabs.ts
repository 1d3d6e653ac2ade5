// SPDX-License-Identifier: MIT OR Apache-2.0
// Tabs, as WAI-ARIA's pattern has them: the Tab key goes to the chosen one and from there to what it
// shows; arrows, Home and End choose another one.

import { h } from './dom'

const STEPS: Record<string, (at: number, count: number) => number> = {
  ArrowLeft: (at, count) => (at + count - 1) % count,
  ArrowRight: (at, count) => (at + 1) % count,
  Home: () => 0,
  End: (_, count) => count - 1,
}

/** A list of tabs, by name and label, for a panel; `choose` draws the list anew. */
export function tabList<T extends string>(tabs: [T, string][], chosen: T, panel: HTMLElement, choose: (tab: T) => void): HTMLElement {
  const idOf = (tab: T): string => `tab-${tab}`
  panel.setAttribute('role', 'tabpanel')
  panel.setAttribute('aria-labelledby', idOf(chosen))
  const key = (event: Event, at: number): void => {
    const pressed = event as KeyboardEvent
    const step = STEPS[pressed.key]
    if (step === undefined || pressed.ctrlKey || pressed.metaKey || pressed.altKey) return
    // Else they would move the timeline as well.
    event.preventDefault()
    event.stopPropagation()
    const [next] = tabs[step(at, tabs.length)]
    choose(next)
    document.getElementById(idOf(next))?.focus()
  }
  const buttons = tabs.map(([tab, label], at) => h(
    'button',
    {
      role: 'tab', id: idOf(tab), class: tab === chosen ? 'tab on' : 'tab',
      'aria-selected': String(tab === chosen), 'aria-controls': panel.id, tabindex: tab === chosen ? 0 : -1,
      onclick: () => { choose(tab) }, onkeydown: (event) => { key(event, at) },
    },
    label,
  ))
  return h('div', { role: 'tablist', 'aria-label': 'Views' }, ...buttons)
}
