// Times that a person types into a filter, in the clock they chose; the address holds them in UTC, so that a shared
// link means the same everywhere.
import type { Preferences } from '@/app/preferences';

type Clock = Preferences['clock'];

const BARE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/;
const EPOCH = /^\d{9,14}$/;

/** The moment that the address names: ISO 8601, a day, or epoch in seconds or milliseconds; null if it is none. */
export function momentOf(written: string): number | null {
  if (!written) return null;
  if (EPOCH.test(written)) return Number(written) * (written.length > 11 ? 1 : 1_000);
  const at = Date.parse(BARE.test(written) ? `${written}Z` : written);
  return Number.isNaN(at) ? null : at;
}

/** As a field of type datetime-local wants it. */
export function fieldOf(written: string, clock: Clock): string {
  const at = momentOf(written);
  if (at === null) return '';
  const shift = clock === 'utc' ? 0 : new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - shift).toISOString().slice(0, 16);
}

/** As the address holds what was typed: to the minute, in UTC. */
export function writtenOf(field: string, clock: Clock): string {
  const at = Date.parse(clock === 'utc' ? `${field}Z` : field);
  return Number.isNaN(at) ? '' : `${new Date(at).toISOString().slice(0, 16)}Z`;
}

/** The last moment that an end to the minute includes, for the server; days and exact times are sent as they are. */
export function endOf(written: string): string {
  return /T\d\d:\d\dZ?$/.test(written) ? written.replace(/Z?$/, ':59.999Z') : written;
}
