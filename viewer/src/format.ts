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

/** Picoseconds as seconds with the prefix that fits. */
export function seconds(ps: number): string {
  const units: [number, string][] = [[1e12, 's'], [1e9, 'ms'], [1e6, 'µs'], [1e3, 'ns']]
  const [size, unit] = units.find(([least]) => Math.abs(ps) >= least) ?? [1, 'ps']
  return `${number(ps / size)} ${unit}`
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

/** A value of a record; lists by commas. */
export function value(of: unknown): string {
  if (of === null || of === undefined) return '–'
  if (typeof of === 'boolean') return of ? 'yes' : 'no'
  if (typeof of === 'number') return number(of)
  if (Array.isArray(of)) return of.length === 0 ? 'none' : of.map(value).join(', ')
  if (typeof of === 'object') {
    const entries = Object.entries(of).filter(([, entry]) => entry !== 0)
    return entries.map(([name, entry]) => `${words(name)} ${value(entry)}`).join(', ') || 'none'
  }
  return String(of)
}
