// SPDX-License-Identifier: MIT OR Apache-2.0
// Titles by which documents of one page are told apart: those alike say how their settings differ.

import type { Document, Facts } from './documents'
import { value } from './format'

const LISTS = ['set', 'skew', 'ongoing']
const SINGLE = [
  'machine', 'fidelity', 'background', 'root', 'dtype', 'op', 'part_bytes', 'piece_bytes', 'flow_control_option',
  'status_bits', 'arity', 'seed',
]

/** Settings as the command line takes them. */
function options(facts: Facts): string[] {
  const parts: string[] = []
  for (const name of LISTS) {
    const list = facts[name]
    if (Array.isArray(list)) for (const one of list) parts.push(`--${name} ${String(one)}`)
  }
  if (facts.cold === true) parts.push('--cold')
  for (const name of SINGLE) {
    const of = facts[name]
    if (typeof of !== 'string' && typeof of !== 'number') continue
    parts.push(`--${name.replace('_option', '').replaceAll('_', '-')} ${of}`)
  }
  return parts
}

/** Of which file or build a document is, where settings tell nothing. */
function source(one: Document): string[] {
  if (one.view === 'schedule') return [one.name]
  return [`chip ${value(one.facts.fingerprint)}`, `corecast ${value(one.facts.version)}`]
}

/** The title of every document, each once. */
export function titles(documents: Document[]): string[] {
  const found = documents.map(({ title }) => title)
  const apart = (parts: string[][]): void => {
    const before = [...found]
    before.forEach((title, index) => {
      const others = parts.filter((_, other) => other !== index && before[other] === title)
      const own = parts[index].filter((part) => others.some((list) => !list.includes(part)))
      if (own.length > 0) found[index] = `${title}, ${own.join(', ')}`
    })
  }
  apart(documents.map((one) => (one.view === 'schedule' ? [] : options(one.facts))))
  apart(documents.map(source))
  apart(documents.map((_, index) => [`document ${index + 1}`]))
  return found
}
