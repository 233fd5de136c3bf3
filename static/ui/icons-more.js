// Icons of the one set that the first look can do without, for `iconOf` of `icons.js`: they come
// with the modules that show them.

export const CLOCK = "M10 3.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM10 6.5V10l2.5 1.8";
export const BELL = "M10 3a4.5 4.5 0 0 1 4.5 4.5c0 4 1.5 5 1.5 5H4s1.5-1 1.5-5A4.5 4.5 0 0 1 10 3zM8.3 15.5a1.8 1.8 0 0 0 3.4 0";
export const TICK = "M4.5 10.5l3.5 3.5 7.5-8";
export const SHIELD = "M10 2.8l6 2.2v4.6c0 3.6-2.4 6.1-6 7.6-3.6-1.5-6-4-6-7.6V5zM10 7v3.4M10 12.8v.2";
export const MICROPHONE = "M10 3a2.2 2.2 0 0 0-2.2 2.2v4.6a2.2 2.2 0 0 0 4.4 0V5.2A2.2 2.2 0 0 0 10 3zM5 9.5a5 5 0 0 0 10 0M10 14.5V17.5";
export const HANG_UP = "M3 12.5c0-4 14-4 14 0v1.5l-4-.8v-2c-2-.6-4-.6-6 0v2l-4 .8z";
