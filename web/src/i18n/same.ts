// What a translation must hold: every key of the English texts, no other. Chinese has one plural form, so that keys for
// the English singular are left out.
export type Same<T> = {
  [K in keyof T as K extends `${string}_one` ? never : K]: T[K] extends string ? string : Same<T[K]>;
};
