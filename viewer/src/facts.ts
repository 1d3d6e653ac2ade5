// SPDX-License-Identifier: MIT OR Apache-2.0
// What is proven, and what a result depends on.

import type { Facts } from './documents'
import { h } from './dom'
import { bytes, number, value, words } from './format'

type Claim = { name: string; holds: boolean; text: string }

/** The claims of a certificate, in the order in which they matter. */
export function claims(certificate: Facts): Claim[] {
  const found: Claim[] = []
  const claim = (key: string, name: string, yes: string, no: string): void => {
    if (typeof certificate[key] === 'boolean') found.push({ name, holds: certificate[key], text: certificate[key] ? yes : no })
  }
  claim('correct', 'correct', 'every rank ends with what the collective promises', 'what speaks against it is below')
  claim('deadlock_free', 'deadlock-free', 'it completes even if every send waits for its receiver', needs(certificate.slots_needed))
  claim('contention_free', 'contention-free', 'no link carries two messages in one round', 'links carry several messages in one round')
  return found
}

/** What a schedule that is not deadlock-free needs; none = that it waits for ever. */
function needs(slots: unknown): string {
  if (typeof slots !== 'number') return 'it never completes, however many slots a connection has'
  return `it needs ${slots} ${slots === 1 ? 'slot' : 'slots'} per connection to complete`
}

const SIZES = new Set(['bytes', 'max_buffer_bytes', 'max_unread_bytes', 'payload_bytes', 'redundant_bytes', 'part_bytes', 'piece_bytes'])

function show(name: string, of: unknown): string {
  if (name === 'seed') return String(of) // as it is typed
  return SIZES.has(name) && typeof of === 'number' ? bytes(of) : value(of)
}

/** The lines of the schedule file that a violation is about. */
function inLines(lines: unknown, number: number): string {
  const ofOne: unknown = Array.isArray(lines) ? lines[number] : null
  if (!Array.isArray(ofOne) || ofOne.length === 0) return ''
  return ` (${ofOne.length === 1 ? 'line' : 'lines'} ${ofOne.join(', ')})`
}

export function certificateView(certificate: Facts | null): HTMLElement {
  if (certificate === null) return h('p', { class: 'empty' }, 'This file has no certificate.')
  const list = claims(certificate).map(({ name, holds, text }) => h(
    'li', { class: holds ? 'good' : 'bad' }, h('span', { class: 'mark', 'aria-hidden': 'true' }, holds ? '✓' : '✗'), h('b', {}, name), ` ${text}`,
  ))
  const { violations, violation_lines: lines } = certificate
  const wrong = Array.isArray(violations)
    ? violations.map((one, number) => h('li', { class: 'bad' }, `${String(one)}${inLines(lines, number)}`))
    : []
  const rest = Object.entries(certificate).filter(([name, of]) => typeof of !== 'boolean' && !name.startsWith('violation') && of !== null)
  return h(
    'div', { class: 'facts' },
    h('ul', { class: 'claims' }, ...list),
    wrong.length > 0 && h('h2', {}, wrong.length === 1 ? 'One violation' : `${number(wrong.length)} violations`),
    wrong.length > 0 && h('ul', {}, ...wrong.slice(0, 100)),
    table(rest),
  )
}

export function settingsView(facts: Facts, notes: string[]): HTMLElement {
  const rows = Object.entries(facts).filter(([name]) => name !== 'finish_ns')
  return h('div', { class: 'facts' }, ...notes.map((note) => h('p', { class: 'note' }, note)), table(rows))
}

function table(rows: [string, unknown][]): HTMLElement {
  return h('table', {}, h('tbody', {}, ...rows.map(([name, of]) => h('tr', {}, h('th', { scope: 'row' }, words(name)), h('td', {}, show(name, of))))))
}

/** One line for the foot of a picture. */
export function footer(facts: Facts): string {
  const parts = [`corecast ${value(facts.version)}`]
  if (typeof facts.chip === 'string') parts.push(`chip ${facts.chip} ${value(facts.fingerprint)}`)
  else if (typeof facts.computer === 'string') parts.push(facts.computer)
  if (typeof facts.fidelity === 'string') parts.push(`${facts.fidelity} fidelity`)
  for (const [key, option] of [['set', '--set'], ['skew', '--skew'], ['ongoing', '--ongoing']] as const) {
    const list = facts[key]
    if (Array.isArray(list)) for (const one of list) parts.push(`${option} ${String(one)}`)
  }
  if (typeof facts.background === 'string') parts.push(`--background ${facts.background}`)
  if (typeof facts.seed === 'number') parts.push(`seed ${facts.seed}`)
  return parts.join(', ')
}
