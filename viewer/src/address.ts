// SPDX-License-Identifier: MIT OR Apache-2.0
// What is looked at, as the part of an address behind `#`: it reproduces the view.

export const TABS = ['timeline', 'mesh', 'schedule', 'certificate', 'settings'] as const
export type Tab = (typeof TABS)[number]

export type Look = {
  /** Index of the document. */
  doc: number
  /** Index of the run beside it; -1 for none. */
  beside: number
  tab: Tab
  /** The window of the timeline in picoseconds; none for the whole run. */
  window: [number, number] | null
  /** The selected rank; -1 for none. */
  rank: number
  /** The selected message; -1 for none. */
  message: number
  /** The slice of time of the mesh; -1 for the sum over all. */
  slice: number
  /** The selected link of the mesh, by where it leaves and enters, `X,Y-X,Y`; empty for none. */
  link: string
  /** The round of the schedule. */
  round: number
  /** The selected case of a sweep; -1 for none. */
  case: number
  /** The highlighted kind of cause; -1 for none. */
  cause: number
  /** Whether messages and the critical path are drawn. */
  arrows: boolean
  path: boolean
}

export const FIRST: Look = {
  doc: 0,
  beside: -1,
  tab: 'timeline',
  window: null,
  rank: -1,
  message: -1,
  slice: -1,
  link: '',
  round: 0,
  case: -1,
  cause: -1,
  arrows: true,
  path: true,
}

/** Only what is not as at first. */
export function address(look: Look): string {
  const parts = new URLSearchParams()
  for (const [name, value] of Object.entries(look)) {
    if (JSON.stringify(value) === JSON.stringify(FIRST[name as keyof Look])) continue
    parts.set(name, Array.isArray(value) ? value.map((time) => Math.round(time)).join('..') : String(value))
  }
  return parts.toString()
}

/** What an address says; parts that make no sense are as at first. */
export function look(text: string): Look {
  const parts = new URLSearchParams(text.replace(/^#/, ''))
  const found: Look = { ...FIRST }
  for (const name of ['doc', 'beside', 'rank', 'message', 'slice', 'round', 'case', 'cause'] as const) {
    const value = Number(parts.get(name) ?? FIRST[name])
    if (Number.isSafeInteger(value) && value >= FIRST[name]) found[name] = value
  }
  for (const name of ['arrows', 'path'] as const) found[name] = parts.get(name) !== 'false'
  const link = parts.get('link') ?? ''
  if (/^\d+,\d+-\d+,\d+$/.test(link)) found.link = link
  found.tab = TABS.find((tab) => tab === parts.get('tab')) ?? FIRST.tab
  const [from, to] = (parts.get('window') ?? '').split('..').map(Number)
  if (Number.isFinite(from) && Number.isFinite(to) && from < to) found.window = [from, to]
  return found
}
