declare global {
  namespace App {
    interface PageState {
      /** The slugs of the models that the user has just added, for the provider's page. */
      addedModels?: string[];
      /** Whether "back" returns to an earlier state of the same page. */
      isStep?: boolean;
    }
  }
}

export {};
