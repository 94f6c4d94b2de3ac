export { default as ComboboxBox } from "./ComboboxBox.svelte";
export { default as DialogBox } from "./DialogBox.svelte";
export { default as MenuBox } from "./MenuBox.svelte";
export { default as SelectBox } from "./SelectBox.svelte";
