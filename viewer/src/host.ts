// SPDX-License-Identifier: MIT OR Apache-2.0
// Who keeps the address of what is looked at: the window, or, where the page stands in a frame without
// an address (a notebook), whoever holds it, by messages `{ corecastView: ADDRESS }` both ways.

const isHeld = location.protocol === 'about:' && parent !== window

/** What the address says at first. */
export function kept(): string {
  return isHeld ? '' : location.hash
}

/** Keeps an address. */
export function keep(address: string): void {
  if (isHeld) parent.postMessage({ corecastView: address }, '*')
  else history.replaceState(null, '', address === '' ? location.pathname + location.search : `#${address}`)
}

/** Calls back when somebody else has changed the address. */
export function onChange(hear: (address: string) => void): void {
  addEventListener('hashchange', () => { if (!isHeld) hear(location.hash) })
  addEventListener('message', ({ source, data }: MessageEvent<unknown>) => {
    if (!isHeld || source !== parent || typeof data !== 'object' || data === null) return
    const { corecastView } = data as { corecastView?: unknown }
    if (typeof corecastView === 'string') hear(corecastView)
  })
}
