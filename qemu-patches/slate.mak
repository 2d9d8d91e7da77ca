# SPDX-License-Identifier: GPL-2.0-or-later
#
# The devices of Slate's QEMU: one PC board, the NVMe controller under test,
# what carries a root file system and results in real time, and two UARTs.
# Everything else is left out: fewer devices build faster and boot faster.

CONFIG_Q35=y

# the drive's front ends
CONFIG_NVME_PCI=y
# images in the guest's memory
CONFIG_GENERIC_LOADER=y
CONFIG_VIRTIO_PCI=y
CONFIG_VIRTIO_BLK=y
CONFIG_VIRTIO_SCSI=y
CONFIG_SCSI=y

# hot plug, console, exit status, results
CONFIG_PCIE_PORT=y
CONFIG_SERIAL_ISA=y
CONFIG_SERIAL_PCI=y
CONFIG_SERIAL_PCI_MULTI=y
CONFIG_ISA_DEBUG=y
CONFIG_VIRTIO_SERIAL=y
CONFIG_VIRTIO_RNG=y
CONFIG_HPET=y

# disk images of the user's: network, a shared folder, an IOMMU for VFIO in the guest
CONFIG_E1000E_PCI_EXPRESS=y
CONFIG_VIRTIO_NET=y
CONFIG_VIRTIO_9P=y
CONFIG_VTD=y
