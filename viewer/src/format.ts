// SPDX-License-Identifier: MIT OR Apache-2.0
// Numbers and names as people read them.

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

/** At most four significant digits after the whole part, thousands apart. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return String(value)
  if (Math.abs(value) >= 1000 || Number.isInteger(value)) return whole.format(Math.round(value))
  return new Intl.NumberFormat('en-US', { maximumSignificantDigits: 4 }).format(value)
}

export function bytes(value: number): string {
  if (value >= 1 << 20 && value % (1 << 20) === 0) return `${number(value / (1 << 20))} MiB`
  if (value >= 1024 && value % 1024 === 0) return `${number(value / 1024)} KiB`
  return `${number(value)} B`
}

const UNITS: [number, string][] = [[1e12, 's'], [1e9, 'ms'], [1e6, 'µs'], [1e3, 'ns']]

/** The unit of seconds that fits, as its length in picoseconds and its name. */
export function unitOf(ps: number): [number, string] {
  return UNITS.find(([least]) => Math.abs(ps) >= least) ?? [1, 'ps']
}

/** Picoseconds as seconds with the prefix that fits. */
export function seconds(ps: number): string {
  const [size, unit] = unitOf(ps)
  return `${number(ps / size)} ${unit}`
}

/** Two numbers with as many digits as tell them apart. */
export function between(from: number, to: number): string {
  const digits = to > from ? 2 - Math.floor(Math.log10(to - from)) : 0
  const format = new Intl.NumberFormat('en-US', { maximumFractionDigits: Math.max(0, Math.min(6, digits)) })
  return `${format.format(from)} to ${format.format(to)}`
}

export function plural(count: number, one: string, more = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : more}`
}

export function words(name: string): string {
  return name.replaceAll('_', ' ')
}

export function pair([from, to]: readonly [number, number]): string {
  return `${from}→${to}`
}

export function link(from: readonly [number, number], to: readonly [number, number]): string {
  const at = ([x, y]: readonly [number, number]): string => `(${x},${y})`
  return from[0] === to[0] && from[1] === to[1] ? `port of the core at ${at(from)}` : `${at(from)}→${at(to)}`
}

const exact = new Intl.NumberFormat('en-US', { maximumFractionDigits: 3 })
const small = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 4 })

/** A value of a record, as exact as the command line has it; lists by commas. */
export function value(of: unknown): string {
  if (of === null || of === undefined) return '–'
  if (typeof of === 'boolean') return of ? 'yes' : 'no'
  if (typeof of === 'number') return (Math.abs(of) < 1 ? small : exact).format(of)
  if (Array.isArray(of)) return of.length === 0 ? 'none' : of.map(value).join(', ')
  if (typeof of === 'object') {
    const entries = Object.entries(of).filter(([, entry]) => entry !== 0)
    return entries.map(([name, entry]) => `${words(name)} ${value(entry)}`).join(', ') || 'none'
  }
  return String(of)
}
