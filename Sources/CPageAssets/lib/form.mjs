// Forms whose faults are announced and stand at their fields.

import { el } from "./el.mjs";

let count = 0;

/**
 * Makes a field with its label.
 *
 * @param {string} label
 * @param {Record<string, any>} properties of the `input`
 * @param {string} [hint]
 */
export function field(label, properties, hint) {
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
  };
}

/**
 * Makes a form.
 *
 * @param {{fields: ReturnType<typeof field>[], submit: string, missing: string,
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
      else onsubmit(button);
    },
  }, ...fields.map((each) => each.node), el("div", { class: "actions" }, button, ...more));
}
