/// A table of the ledger, or a read model, with the facts about its columns that several parts need.
///
/// Grants, `verify`, erasures and their tests are generated from these facts or compared with them. A role
/// may use only the tables and columns that name it.
package struct CatalogueTable: Sendable {
    /// A privilege on a whole table.
    package enum Privilege: String, Sendable {
        case select = "SELECT"
        case insert = "INSERT"
        case update = "UPDATE"
        case delete = "DELETE"
    }

    /// The name; of a read model, that of the view, which the names of its tables begin with.
    package let name: String
    /// Whether it is a view that serves one of several tables, `<name>_<generation>`, with the same columns.
    package let isReadModel: Bool
    /// The privileges of servers on the table; on a view only to select.
    ///
    /// They apply to whole rows: a statement then needs one check and not one for each column.
    package let server: [Privilege]
    /// The privileges of a separate sealer on the table, beside reading its columns.
    package let sealer: [Privilege]
    /// The columns.
    package let columns: [CatalogueColumn]

    init(
        _ name: String, isReadModel: Bool = false, server: [Privilege], sealer: [Privilege] = [],
        columns: [CatalogueColumn]
    ) {
        self.name = name
        self.isReadModel = isReadModel
        self.server = server
        self.sealer = sealer
        self.columns = columns
    }

    /// Returns the names of the columns that have an attribute, in order.
    package func columns(_ attribute: CatalogueColumn.Attributes) -> [String] {
        columns.filter { $0.attributes.contains(attribute) }.map(\.name)
    }
}

extension [CatalogueTable.Privilege] {
    static var append: Self { [.select, .insert] }
    static var upsert: Self { [.select, .insert, .update] }
    static var all: Self { [.select, .insert, .update, .delete] }
}

/// Every table of the ledger.
package enum Catalogue {
    /// The tables and read models; a migration that makes one adds it to one of these lists.
    package static let tables: [CatalogueTable] =
        log + seals + decisionState + records + readModels + administration + webhooks + outbox
}
