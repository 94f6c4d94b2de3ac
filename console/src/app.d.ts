declare global {
  namespace App {
    interface PageState {
      /** The slugs of the models that were added a moment ago, on the provider's page. */
      addedModels?: string[];
      /** Whether "back" leads to the page before in the same list. */
      isStep?: boolean;
    }
  }
}

export {};
