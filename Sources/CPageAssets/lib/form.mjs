// Forms whose faults are announced and stand at their fields.

import { el } from "./el.mjs";

/** @typedef {ReturnType<typeof field>} Field */

let count = 0;

/**
 * Makes a field with its label.
 *
 * @param {string} label
 * @param {Record<string, any>} properties of the `input`
 * @param {string} [hint]
 * @param {(text: string) => string} [check] returns the fault of a text; an empty one without any
 */
export function field(label, properties, hint, check = () => "") {
  count += 1;
  const id = `field-${count}`;
  const input = /** @type {HTMLInputElement} */ (el("input", {
    id, required: true, "aria-describedby": hint ? `${id}-hint ${id}-error` : `${id}-error`, ...properties,
  }));
  const error = el("p", { class: "error", id: `${id}-error` });
  const node = el("div", { class: "field" },
    el("label", { for: id }, label), hint && el("p", { class: "quiet", id: `${id}-hint` }, hint), input, error);
  return {
    node,
    input,
    get value() { return input.value; },
    /** Shows a fault at the field, which gets the focus; an empty text removes it. */
    fault(text) {
      error.textContent = text;
      if (text) {
        input.setAttribute("aria-invalid", "true");
        input.focus();
      } else {
        input.removeAttribute("aria-invalid");
      }
    },
    /** Checks what was typed, and shows its fault. */
    accepts() {
      this.fault(check(input.value));
      return !error.textContent;
    },
  };
}

/**
 * Makes a form.
 *
 * @param {{fields: Field[], submit: string, missing: string,
 *   onsubmit: (button: HTMLElement) => void, more?: Node[]}} parts
 */
export function form({ fields, submit, missing, onsubmit, more = [] }) {
  const button = el("button", { class: "primary" }, submit);
  return el("form", {
    novalidate: true,
    onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      for (const each of fields) each.fault("");
      const empty = fields.find((each) => each.input.required && !each.value.trim());
      if (empty) empty.fault(missing);
      else if (fields.every((each) => each.accepts())) onsubmit(button);
    },
  }, ...fields.map((each) => each.node), el("div", { class: "actions" }, button, ...more));
}
