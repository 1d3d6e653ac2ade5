// SPDX-License-Identifier: MIT OR Apache-2.0
// Colours: those of crates/render, which people with any colour vision tell apart.

export type Theme = 'light' | 'dark'

const CAUSES: Record<string, string> = {
  compute: '#cc79a7',
  wait_peer: '#e69f00',
  port_busy: '#d55e00',
  link_busy: '#f0e442',
  buffer_full: '#8c510a',
  memory: '#666666',
  handshake: '#56b4e9',
  software: '#999933',
  transfer: '#009e73',
  ordering: '#0072b2',
}

/** What each kind of cause means, in one line. */
export const MEANINGS: Record<string, string> = {
  compute: 'the core computes, or has not arrived yet',
  wait_peer: 'a peer has not reached the matching step',
  port_busy: 'the port is busy with an earlier transfer',
  link_busy: 'the message waited for is held up by another one',
  buffer_full: 'the buffer for leaving messages is full',
  memory: "a memory outside the core's tile has not answered",
  handshake: 'commands, requests, grants and notifications',
  software: 'the message layer computes',
  transfer: 'words move',
  ordering: 'reading and ordering the status of other ranks',
  idle: 'the rank has finished',
}

export function causeColour(kind: string, theme: Theme): string {
  return CAUSES[kind] ?? (theme === 'dark' ? '#30353d' : '#e8e8e8')
}

/** Of algorithms; a ninth one has the first colour again. */
export const SERIES = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8c6d31', '#777777']

/** Of loads, from nothing to most. */
export function loadColour(share: number, theme: Theme): string {
  const light = ['#e9eaec', '#fee8c8', '#fdbb84', '#fc8d59', '#d7301f', '#7f0000']
  const dark = ['#2b3038', '#5a2a1a', '#993a1c', '#d7501f', '#fc8d59', '#fee8c8']
  const scale = theme === 'dark' ? dark : light
  return scale[share > 0 ? Math.min(5, Math.max(1, Math.ceil(share * 5))) : 0]
}

/** Black or white, whichever is readable on a colour. */
export function inkOn(colour: string): string {
  const [r, g, b] = rgb(colour).map((part) => {
    const value = part / 255
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.2 ? '#10141a' : '#ffffff'
}

export function rgb(colour: string): [number, number, number] {
  const value = Number.parseInt(colour.slice(1), 16)
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255]
}
